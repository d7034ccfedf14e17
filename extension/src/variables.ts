// Variables in settings and in launch.json, as the editor itself has them.
import { basename, dirname, extname, relative, sep } from "node:path";

export interface Surroundings {
  home: string;
  workspaceFolder: string | undefined;
  environment: Readonly<Record<string, string | undefined>>;
  /** The file that a run is about. */
  file?: string;
}

/** The text with a leading `~` and its variables replaced. What is not known becomes empty, other variables stay. */
export function expandVariables(text: string, surroundings: Surroundings): string {
  const values = known(surroundings);
  return text
    .replace(/^~(?=$|[/\\])/, () => surroundings.home)
    .replace(/\$\{env:([^}]*)\}/g, (_, name: string) => surroundings.environment[name] ?? "")
    .replace(/\$\{([A-Za-z/]+)\}/g, (variable, name: string) => values[name] ?? variable);
}

/** The variables that nothing here fills in, such as `${command:pickProcess}`. */
export function unknownVariables(text: string): string[] {
  return text.match(/\$\{[^}]*\}/g) ?? [];
}

function known({ home, workspaceFolder = "", file = "" }: Surroundings): Record<string, string> {
  const ending = extname(file);
  const inside = workspaceFolder === "" ? file : relative(workspaceFolder, file);
  return {
    userHome: home,
    workspaceFolder,
    workspaceRoot: workspaceFolder,
    workspaceFolderBasename: basename(workspaceFolder),
    cwd: workspaceFolder,
    file,
    fileBasename: basename(file),
    fileBasenameNoExtension: basename(file, ending),
    fileDirname: file === "" ? "" : dirname(file),
    fileExtname: ending,
    relativeFile: inside,
    relativeFileDirname: file === "" ? "" : dirname(inside),
    pathSeparator: sep,
    "/": sep,
  };
}
