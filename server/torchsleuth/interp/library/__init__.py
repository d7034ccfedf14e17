"""Models of what the oracle cannot know: Python builtins, containers of modules, data, optimizers, externals."""

from torchsleuth.interp.library.arrays import binary as array_binary
from torchsleuth.interp.library.arrays import get_item as array_item
from torchsleuth.interp.library.arrays import of_operands
from torchsleuth.interp.library.data import iterate, measured, object_item, refuses_list, takes_list
from torchsleuth.interp.library.dictionaries import contains as has_entry
from torchsleuth.interp.library.dictionaries import delete as delete_entry
from torchsleuth.interp.library.dictionaries import item as dict_item
from torchsleuth.interp.library.dictionaries import iteration as dict_iteration
from torchsleuth.interp.library.dictionaries import merge as merge_entries
from torchsleuth.interp.library.dictionaries import of_pairs as entries_of_pairs
from torchsleuth.interp.library.dictionaries import put as put_entry
from torchsleuth.interp.library.dictionaries import set_item as set_entry
from torchsleuth.interp.library.dispatch import (
    attribute,
    call_method,
    call_native,
    call_object,
    external_constant,
    instance_attribute,
    native_init,
)
from torchsleuth.interp.library.distributions import is_distribution
from torchsleuth.interp.library.draws import between, plain_number
from torchsleuth.interp.library.draws import computed as computed_number
from torchsleuth.interp.library.draws import mark as mark_element
from torchsleuth.interp.library.draws import sliced as sliced_size
from torchsleuth.interp.library.einops import LAYERS as EINOPS_LAYERS
from torchsleuth.interp.library.einops import run as run_einops
from torchsleuth.interp.library.files import joined as joined_path
from torchsleuth.interp.library.functions import attribute as function_attribute
from torchsleuth.interp.library.functions import is_function
from torchsleuth.interp.library.hooks import after as run_hooks_after
from torchsleuth.interp.library.hooks import before as run_hooks_before
from torchsleuth.interp.library.hooks import functions as hooks_in
from torchsleuth.interp.library.hooks import run_pending
from torchsleuth.interp.library.integers import rest as rest_of
from torchsleuth.interp.library.layers import FunctionalForm, functional_form
from torchsleuth.interp.library.modules import (
    child,
    delete_module_attribute,
    descendants,
    has_own_parameters,
    has_parameters,
    holds_parameters,
    is_loss,
    is_reduced_loss,
    move_somewhere,
    objects_in,
    own_parameters,
    parts_of,
    parts_of_result,
    returns_tensor,
    run_sequential,
    set_child,
    set_module_attribute,
    set_requires_grad,
    tensors_in,
    training_of,
)
from torchsleuth.interp.library.optim import trained_parts
from torchsleuth.interp.library.packed import is_packed
from torchsleuth.interp.library.packed import run as run_packed
from torchsleuth.interp.library.parameters import as_dict, as_entries, parameter_at
from torchsleuth.interp.library.parameters import listed as listed_parameters
from torchsleuth.interp.library.published import PACKAGES as MODEL_PACKAGES
from torchsleuth.interp.library.published import is_configuration
from torchsleuth.interp.library.published import recipe as recipe_of_part
from torchsleuth.interp.library.published import run as run_built
from torchsleuth.interp.library.python import (
    builtin,
    decorated,
    entered,
    expects_error,
    frame_builtin,
    functions_in,
    grad_mode,
    is_instance,
    is_pure,
    make_set,
    transposed,
)
from torchsleuth.interp.library.records import attribute as record_attribute
from torchsleuth.interp.library.records import (
    attributes,
    class_attribute,
    fields,
    fill,
    is_enum,
    is_member,
    is_named_tuple,
    make_named_tuple,
    member,
    members,
)
from torchsleuth.interp.library.records import plain as plain_member

__all__ = [
    "EINOPS_LAYERS",
    "between",
    "computed_number",
    "sliced_size",
    "delete_entry",
    "dict_item",
    "dict_iteration",
    "entries_of_pairs",
    "has_entry",
    "merge_entries",
    "put_entry",
    "set_entry",
    "attributes",
    "class_attribute",
    "fields",
    "fill",
    "is_enum",
    "is_member",
    "is_named_tuple",
    "make_named_tuple",
    "member",
    "members",
    "move_somewhere",
    "plain_member",
    "record_attribute",
    "FunctionalForm",
    "array_binary",
    "as_dict",
    "as_entries",
    "array_item",
    "attribute",
    "builtin",
    "call_method",
    "call_native",
    "call_object",
    "child",
    "decorated",
    "delete_module_attribute",
    "descendants",
    "entered",
    "expects_error",
    "external_constant",
    "frame_builtin",
    "functional_form",
    "functions_in",
    "function_attribute",
    "grad_mode",
    "hooks_in",
    "joined_path",
    "is_function",
    "run_einops",
    "run_hooks_after",
    "run_hooks_before",
    "run_packed",
    "run_pending",
    "has_own_parameters",
    "holds_parameters",
    "has_parameters",
    "of_operands",
    "own_parameters",
    "parts_of",
    "trained_parts",
    "instance_attribute",
    "is_distribution",
    "is_instance",
    "is_loss",
    "is_pure",
    "is_packed",
    "is_reduced_loss",
    "iterate",
    "make_set",
    "mark_element",
    "rest_of",
    "native_init",
    "object_item",
    "objects_in",
    "plain_number",
    "listed_parameters",
    "parameter_at",
    "parts_of_result",
    "returns_tensor",
    "recipe_of_part",
    "is_configuration",
    "run_built",
    "MODEL_PACKAGES",
    "run_sequential",
    "set_child",
    "set_module_attribute",
    "set_requires_grad",
    "measured",
    "refuses_list",
    "takes_list",
    "tensors_in",
    "training_of",
    "transposed",
]
