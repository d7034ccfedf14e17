// The processes below one process, from /proc: what the editor, the server and a run have started.
import { readFileSync, readdirSync } from "node:fs";

function readProcess(pid) {
  try {
    // "pid (name) state parent …"; the name may contain anything, so what counts is the last parenthesis.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    return { pid: Number(pid), parent: Number(parent), command, ended: state === "Z" };
  } catch {
    return undefined; // it ended meanwhile
  }
}

/** Living processes that `ancestor` started, directly or not, whose command line contains `part`. */
export function descendants(ancestor, part = "") {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => readProcess(pid) ?? []);
  const family = new Set([ancestor]);
  for (let size = 0; size !== family.size;) {
    size = family.size;
    all.filter(({ parent }) => family.has(parent)).forEach(({ pid }) => family.add(pid));
  }
  family.delete(ancestor);
  return all.filter(({ pid, command, ended }) => family.has(pid) && !ended && command.includes(part));
}
