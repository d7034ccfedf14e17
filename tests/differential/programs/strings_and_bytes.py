# Programs about text and bytes: methods of str, formatting, f-strings, bytes (library reference, text).

# == upper, lower and title
s = "hello World"
a = s.upper()
b = s.lower()
c = s.title()
d = s.capitalize()
e = s.swapcase()

# == splitting
a = "a,b,,c".split(",")
b = "  a  b ".split()
c = "a,b,c".split(",", 1)
d = "a,b,c".rsplit(",", 1)
e = "one\ntwo\n".splitlines()
f = "k=v=w".partition("=")
g = "k=v=w".rpartition("=")

# == joining
a = ", ".join(["x", "y"])
b = "".join(str(i) for i in range(3))
c = "/".join(("a", "b"))
d = "-".join("abc")

# == stripping
a = "  x ".strip()
b = "xxabcxx".strip("x")
c = "abc.pt".rstrip(".pt")
d = "  x".lstrip()
e = "model.pt".removesuffix(".pt")
f = "module.fc".removeprefix("module.")

# == finding
s = "layer.0.weight"
a = s.find("0")
b = s.find("zz")
c = s.index("weight")
d = s.count(".")
e = s.rfind(".")
f = s.startswith("layer")
g = s.endswith((".bias", ".weight"))

# == replacing
a = "a-b-c".replace("-", "_")
b = "aaa".replace("a", "b", 2)
c = "module.fc.weight".replace("module.", "")
d = "tab\there".expandtabs(4)

# == classification
a = "123".isdigit()
b = "abc".isalpha()
c = "a1".isalnum()
d = " ".isspace()
e = "ABC".isupper()
f = "x y".isidentifier()
g = "1.5".isnumeric()

# == padding
a = "7".zfill(3)
b = "x".center(5, "*")
c = "x".ljust(4) + "|"
d = "x".rjust(4)

# == f-strings with formats
loss = 0.123456
epoch = 3
a = f"{epoch:03d}"
b = f"{loss:.4f}"
c = f"{loss:.2e}"
d = f"{epoch:>5}|{epoch:<5}|{epoch:^5}"
e = f"{1234567:,}"
f = f"{0.5:.1%}"
g = f"{255:x} {255:#b}"

# == f-strings with expressions
name = "net"
n = 3
a = f"{name!r}"
b = f"{n + 1}"
c = f"{name.upper()}-{n * 2}"
d = f"{{literal}}"
e = f"{n=}"
width = 6
g = f"{n:{width}d}"

# == f-strings of containers
a = f"{[1, 2]}"
b = f"{(1, 'x')}"
c = f"{ {'a': 1} }"
d = f"{None} {True}"

# == str.format
a = "{} {}".format(1, "b")
b = "{1}{0}".format("a", "b")
c = "{name}_{index:02d}".format(name="w", index=4)
d = "{:.3f}".format(2.0)
e = "{0[1]}".format([5, 6])
f = "{:>6}".format("ab")

# == percent formatting
a = "%d items" % 3
b = "%s=%.2f" % ("lr", 0.125)
c = "%05d" % 42
d = "%(k)s" % {"k": "v"}
e = "100%% of %s" % "it"

# == characters and codes
a = ord("a")
b = chr(97)
c = [chr(ord("a") + i) for i in range(3)]
d = "".join(sorted("banana"))
e = "abc"[::-1]

# == iteration over text
counts = {}
for ch in "hello":
    counts[ch] = counts.get(ch, 0) + 1
vowels = [c for c in "education" if c in "aeiou"]
pairs = list(enumerate("ab"))

# == translate
table = str.maketrans("abc", "xyz")
a = "aabbcc".translate(table)
b = "a.b".translate({ord("."): "_"})

# == comparisons of text
a = "a" < "b"
b = "Z" < "a"
c = max(["b", "a", "c"])
d = "abc" == "ab" + "c"
e = "10" < "9"

# == bytes
b = b"abc"
n = len(b)
first = b[0]
part = b[1:]
text = b.decode("utf-8")
back = "é".encode("utf-8")
same = b == bytes([97, 98, 99])

# == multi-line text
text = """first
second"""
lines = text.split("\n")
n = len(lines)
joined = " | ".join(line.strip() for line in lines)

# == raw strings and escapes
a = r"\n"
n = len(a)
b = "\n"
m = len(b)
c = "a\tb".split("\t")

# == format function
a = format(3.14159, ".2f")
b = format(42, "08b")
c = format("x", ">3")

# == text as a key built in parts
config = {"lr": 0.1, "layers": 2}
tag = "_".join(f"{k}{v}" for k, v in config.items())
run = f"run-{tag}".replace(".", "p")

# == case insensitive comparison
a = "ReLU".lower() == "relu"
b = "GELU".casefold() in ("relu", "gelu")
c = "adam".upper()

# == repr of strings and numbers
a = repr(0.1)
b = repr("it's")
c = repr(b"x")
d = repr([1, "a", None])
e = str(1e10)
f = str(10 ** 3)

# == text multiplication in a table
rows = [("a", 1), ("bb", 22)]
table = [f"{name:<4}{value:>4}" for name, value in rows]
ruler = "=" * len(table[0])

# == counting words
text = "the cat and the dog"
words = text.split()
unique = sorted(set(words))
longest = max(words, key=len)
lengths = {w: len(w) for w in words}

# == textwrap
import textwrap
a = textwrap.dedent("""\
    x
      y
    """)
b = textwrap.shorten("hello world again", width=12, placeholder="...")

# == string constants
import string
a = string.ascii_lowercase[:3]
b = string.digits
c = "a" in string.ascii_letters
d = len(string.punctuation)

# == text conversion round trip
values = [1, 2, 3]
text = ",".join(map(str, values))
back = [int(v) for v in text.split(",")]
same = back == values
