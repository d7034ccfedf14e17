"""Changes its folder and its search path, and writes files."""
import os
import pathlib
import sys
import tempfile

os.makedirs("sub/deeper")
os.chdir("sub")
pathlib.Path("local_module.py").write_text("import os\nwhere = os.path.basename(os.getcwd())\n")
sys.path.insert(0, os.getcwd())
import local_module  # noqa: E402

print(local_module.where, os.path.basename(__file__), os.path.exists(__file__), pathlib.Path("local_module.py").exists())
with tempfile.NamedTemporaryFile(dir=".", delete=True) as file:
    file.write(b"x")
    print(os.path.dirname(file.name) == os.getcwd())
pathlib.Path("deeper/out.bin").write_bytes(bytes(range(256)))
os.chmod("deeper/out.bin", 0o640)
os.symlink("deeper/out.bin", "link")
