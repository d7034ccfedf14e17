"""Every rule's code with what selection has to know of it, without loading the rules. Written by ``make docs``."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchsleuth.schema import Severity

if TYPE_CHECKING:
    from torchsleuth.rules.rule import Rule


@dataclass(frozen=True)
class Entry:
    """`module`: the file of the rule. For the others see `Rule`."""

    module: str
    name: str
    severity: Severity
    default: bool = True
    syntactic: bool = False


def syntactic_rules() -> dict[str, Rule]:
    """The rules that need nothing but the text. Only these are loaded, a tenth of all."""
    return {
        code: importlib.import_module(f"torchsleuth.rules.{entry.module}").RULE
        for code, entry in INDEX.items()
        if entry.syntactic
    }


# fmt: off
INDEX: dict[str, Entry] = {
    "TS001": Entry("suppression.unused_suppression", "unused-suppression", "hint", default=False),
    "TS101": Entry("shapes.matmul_shape_mismatch", "matmul-shape-mismatch", "error"),
    "TS102": Entry("shapes.conv_channel_mismatch", "conv-channel-mismatch", "error"),
    "TS103": Entry("shapes.broadcast_mismatch", "broadcast-mismatch", "error"),
    "TS104": Entry("shapes.reshape_size_mismatch", "reshape-size-mismatch", "error"),
    "TS105": Entry("shapes.view_not_contiguous", "view-not-contiguous", "error"),
    "TS106": Entry("shapes.cat_mismatch", "cat-mismatch", "error"),
    "TS107": Entry("shapes.dim_out_of_range", "dim-out-of-range", "error"),
    "TS108": Entry("shapes.rank_mismatch", "rank-mismatch", "error"),
    "TS109": Entry("shapes.norm_features_mismatch", "norm-features-mismatch", "error"),
    "TS110": Entry("shapes.rnn_size_mismatch", "rnn-size-mismatch", "error"),
    "TS111": Entry("shapes.attention_size_mismatch", "attention-size-mismatch", "error"),
    "TS112": Entry("shapes.output_too_small", "output-too-small", "error"),
    "TS113": Entry("shapes.loss_shape_mismatch", "loss-shape-mismatch", "error"),
    "TS114": Entry("shapes.loss_broadcast", "loss-broadcast", "warning"),
    "TS115": Entry("shapes.unpack_mismatch", "unpack-mismatch", "error"),
    "TS116": Entry("shapes.declared_shape_mismatch", "declared-shape-mismatch", "warning"),
    "TS117": Entry("shapes.hard_coded_batch", "hard-coded-batch", "warning"),
    "TS118": Entry("shapes.flatten_eats_batch", "flatten-eats-batch", "warning"),
    "TS119": Entry("shapes.batch_first_confusion", "batch-first-confusion", "warning"),
    "TS120": Entry("shapes.reshape_instead_of_transpose", "reshape-instead-of-transpose", "warning"),
    "TS199": Entry("shapes.operator_error", "operator-error", "error"),
    "TS201": Entry("devices.device_mismatch", "device-mismatch", "error"),
    "TS202": Entry("devices.to_result_discarded", "to-result-discarded", "error"),
    "TS203": Entry("devices.tensor_born_on_cpu", "tensor-born-on-cpu", "warning"),
    "TS204": Entry("devices.tensor_attribute_not_buffer", "tensor-attribute-not-buffer", "warning"),
    "TS205": Entry("devices.numpy_on_accelerator", "numpy-on-accelerator", "error"),
    "TS206": Entry("devices.load_without_map_location", "load-without-map-location", "hint"),
    "TS207": Entry("devices.hard_coded_cuda", "hard-coded-cuda", "hint"),
    "TS208": Entry("devices.misspelt_device", "misspelt-device", "error"),
    "TS301": Entry("losses.dtype_mismatch", "dtype-mismatch", "error"),
    "TS302": Entry("losses.class_target_dtype", "class-target-dtype", "error"),
    "TS303": Entry("losses.softmax_before_cross_entropy", "softmax-before-cross-entropy", "warning"),
    "TS304": Entry("losses.sigmoid_before_bce_with_logits", "sigmoid-before-bce-with-logits", "warning"),
    "TS305": Entry("losses.nll_without_log_softmax", "nll-without-log-softmax", "warning"),
    "TS306": Entry("losses.bce_on_logits", "bce-on-logits", "warning"),
    "TS307": Entry("losses.binary_target_dtype", "binary-target-dtype", "error"),
    "TS308": Entry("losses.softmax_over_batch", "softmax-over-batch", "warning"),
    "TS309": Entry("losses.index_dtype", "index-dtype", "error"),
    "TS310": Entry("losses.index_out_of_range", "index-out-of-range", "error"),
    "TS311": Entry("losses.mse_on_class_indices", "mse-on-class-indices", "warning"),
    "TS312": Entry("losses.float_size", "float-size", "error"),
    "TS313": Entry("losses.exchanged_arguments", "loss-arguments-exchanged", "warning"),
    "TS314": Entry("losses.likelihood_parameter", "likelihood-parameter", "warning"),
    "TS315": Entry("losses.sign_labels", "sign-labels", "warning"),
    "TS316": Entry("losses.softmax_for_several_labels", "softmax-for-several-labels", "warning"),
    "TS317": Entry("losses.weights_after_mean", "weights-after-mean", "warning"),
    "TS401": Entry("autograd.backward_without_graph", "backward-without-graph", "error"),
    "TS402": Entry("autograd.rewrapped_loss", "rewrapped-loss", "error"),
    "TS403": Entry("autograd.inplace_on_saved", "inplace-on-saved", "error"),
    "TS404": Entry("autograd.inplace_on_leaf", "inplace-on-leaf", "error"),
    "TS405": Entry("autograd.backward_twice", "backward-twice", "error"),
    "TS406": Entry("autograd.backward_on_non_scalar", "backward-on-non-scalar", "error"),
    "TS407": Entry("autograd.non_differentiable_in_loss", "non-differentiable-in-loss", "warning"),
    "TS408": Entry("autograd.state_carried_across_batches", "state-carried-across-batches", "warning"),
    "TS409": Entry("autograd.numpy_on_grad", "numpy-on-grad", "error"),
    "TS410": Entry("autograd.requires_grad_typo", "requires-grad-typo", "warning"),
    "TS411": Entry("autograd.grad_of_input_missing", "grad-of-input-missing", "error"),
    "TS412": Entry("autograd.deepcopy_of_graph", "deepcopy-of-graph", "error"),
    "TS413": Entry("autograd.non_leaf_optimized", "non-leaf-optimized", "error"),
    "TS414": Entry("autograd.parameter_as_number", "parameter-as-number", "warning"),
    "TS501": Entry("training.missing_zero_grad", "missing-zero-grad", "warning"),
    "TS502": Entry("training.missing_backward", "missing-backward", "warning"),
    "TS503": Entry("training.missing_step", "missing-step", "warning"),
    "TS504": Entry("training.zero_grad_before_step", "zero-grad-before-step", "warning"),
    "TS505": Entry("training.missing_eval_mode", "missing-eval-mode", "warning"),
    "TS506": Entry("training.eval_without_no_grad", "eval-without-no-grad", "warning"),
    "TS507": Entry("training.train_mode_not_restored", "train-mode-not-restored", "warning"),
    "TS508": Entry("training.scheduler_before_optimizer", "scheduler-before-optimizer", "warning"),
    "TS509": Entry("training.clip_in_the_wrong_place", "clip-in-the-wrong-place", "warning"),
    "TS510": Entry("training.unclipped_recurrent_training", "unclipped-recurrent-training", "hint"),
    "TS511": Entry("training.modules_in_plain_container", "modules-in-plain-container", "warning"),
    "TS512": Entry("training.optimizer_misses_parameters", "optimizer-misses-parameters", "warning"),
    "TS513": Entry("training.forward_called_directly", "forward-called-directly", "warning"),
    "TS514": Entry("training.accumulation_without_scaling", "accumulation-without-scaling", "warning"),
    "TS515": Entry("training.grad_scaler_order", "grad-scaler-order", "warning"),
    "TS516": Entry("training.functional_dropout_always_on", "functional-dropout-always-on", "warning"),
    "TS517": Entry("training.best_state_by_reference", "best-state-by-reference", "warning"),
    "TS518": Entry("training.missing_super_init", "missing-super-init", "error"),
    "TS519": Entry("training.plain_tensor_parameter", "plain-tensor-parameter", "warning"),
    "TS520": Entry("training.no_seed", "no-seed", "hint", default=False),
    "TS521": Entry("training.plateau_without_metric", "plateau-without-metric", "error"),
    "TS522": Entry("training.head_never_called", "head-never-called", "warning"),
    "TS523": Entry("training.backward_outside_loop", "backward-outside-loop", "warning"),
    "TS524": Entry("training.return_inside_loop", "return-inside-loop", "warning"),
    "TS525": Entry("training.gradients_discarded", "gradients-discarded", "warning"),
    "TS526": Entry("training.closure_missing", "closure-missing", "error"),
    "TS527": Entry("training.schedule_too_short", "schedule-too-short", "error"),
    "TS528": Entry("training.parameter_rebound", "parameter-rebound", "warning"),
    "TS529": Entry("training.parameters_used_up", "parameters-used-up", "warning"),
    "TS530": Entry("training.state_dict_mismatch", "state-dict-mismatch", "error"),
    "TS531": Entry("training.checkpoint_key", "checkpoint-key", "error"),
    "TS532": Entry("training.module_repeated", "module-repeated", "warning"),
    "TS533": Entry("training.tensor_for_parameter", "tensor-for-parameter", "error"),
    "TS534": Entry("training.part_without_gradients", "part-without-gradients", "warning"),
    "TS535": Entry("training.optimizer_made_anew", "optimizer-made-anew", "warning"),
    "TS536": Entry("training.schedule_in_epochs", "schedule-in-epochs", "warning"),
    "TS537": Entry("training.load_overwritten", "load-overwritten", "warning"),
    "TS538": Entry("training.dropout_of_one_layer", "dropout-of-one-layer", "warning"),
    "TS601": Entry("data.ragged_batch", "ragged-batch", "error"),
    "TS602": Entry("data.sample_type", "sample-type", "error"),
    "TS603": Entry("data.missing_len", "missing-len", "error"),
    "TS604": Entry("data.train_not_shuffled", "train-not-shuffled", "hint"),
    "TS605": Entry("data.shuffle_with_sampler", "shuffle-with-sampler", "error"),
    "TS606": Entry("data.transform_order", "transform-order", "error"),
    "TS607": Entry("data.numpy_rng_in_workers", "numpy-rng-in-workers", "hint"),
    "TS608": Entry("data.normalize_channels", "normalize-channels", "error"),
    "TS609": Entry("data.batch_of_one", "batch-of-one", "warning"),
    "TS610": Entry("data.distributed_sampler_epoch", "distributed-sampler-epoch", "warning"),
    "TS611": Entry("data.dataset_length_mismatch", "dataset-length-mismatch", "error"),
    "TS612": Entry("data.split_lengths", "split-lengths", "error"),
    "TS613": Entry("data.loader_options", "loader-options", "error"),
    "TS614": Entry("data.loader_not_indexable", "loader-not-indexable", "error"),
    "TS615": Entry("data.missing_getitem", "missing-getitem", "error"),
    "TS616": Entry("data.no_batches", "no-batches", "warning"),
    "TS617": Entry("data.array_in_tensor_dataset", "array-in-tensor-dataset", "error"),
    "TS618": Entry("data.list_for_tensor", "list-for-tensor", "error"),
    "TS619": Entry("data.sampler_weights", "sampler-weights", "warning"),
    "TS620": Entry("data.index_not_used", "index-not-used", "warning"),
    "TS621": Entry("data.stream_repeated_by_workers", "stream-repeated-by-workers", "warning"),
    "TS701": Entry("performance.graph_kept_alive", "graph-kept-alive", "warning"),
    "TS702": Entry("performance.sync_in_hot_loop", "sync-in-hot-loop", "hint", default=False),
    "TS703": Entry("performance.loader_workers", "loader-workers", "hint", default=False),
    "TS704": Entry("performance.empty_cache_in_loop", "empty-cache-in-loop", "hint"),
    "TS705": Entry("performance.unstable_expression", "unstable-expression", "hint", syntactic=True),
    "TS706": Entry("performance.zero_grad_keeps_memory", "zero-grad-keeps-memory", "hint", default=False, syntactic=True),
    "TS801": Entry("api.removed_function", "removed-function", "error", syntactic=True),
    "TS802": Entry("api.deprecated_function", "deprecated-function", "warning", syntactic=True),
    "TS803": Entry("api.load_without_weights_only", "load-without-weights-only", "warning"),
    "TS804": Entry("api.checkpoint_use_reentrant", "checkpoint-use-reentrant", "warning", syntactic=True),
    "TS805": Entry("api.deprecated_autocast", "deprecated-autocast", "warning", syntactic=True),
    "TS806": Entry("api.torchvision_pretrained", "torchvision-pretrained", "warning", syntactic=True),
    "TS807": Entry("api.transforms_to_tensor", "transforms-to-tensor", "warning", syntactic=True),
    "TS808": Entry("api.non_public_function", "non-public-function", "hint", syntactic=True),
    "TS809": Entry("api.torchvision_import_style", "torchvision-import-style", "hint", default=False, syntactic=True),
    "TS810": Entry("api.legacy_tensor_constructor", "legacy-tensor-constructor", "hint"),
    "TS811": Entry("api.method_not_called", "method-not-called", "error"),
    "TS812": Entry("api.load_result_as_module", "load-result-as-module", "error"),
    "TS813": Entry("api.pair_as_tensor", "pair-as-tensor", "error"),
    "TS814": Entry("api.param_groups_index", "param-groups-index", "error"),
    "TS815": Entry("api.argument_of_wrong_kind", "argument-of-wrong-kind", "error"),
    "TS820": Entry("api.arguments_do_not_fit", "arguments-do-not-fit", "error"),
    "TS821": Entry("api.misspelt_name", "misspelt-name", "error"),
    "TS822": Entry("api.not_a_module", "not-a-module", "error"),
    "TS823": Entry("api.not_a_tensor", "not-a-tensor", "error"),
    "TS824": Entry("api.misspelt_method", "misspelt-method", "error"),
    "TS825": Entry("api.wrong_kind", "wrong-kind", "error"),
}
