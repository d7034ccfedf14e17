// Variables in the settings that hold paths.

export interface Surroundings {
  home: string;
  workspaceFolder: string | undefined;
  environment: Readonly<Record<string, string | undefined>>;
}

/** The text with a leading `~`, `${workspaceFolder}` and `${env:NAME}` replaced; what is not known becomes empty. */
export function expandVariables(text: string, surroundings: Surroundings): string {
  return text
    .replace(/^~(?=$|[/\\])/, () => surroundings.home)
    .replaceAll("${workspaceFolder}", () => surroundings.workspaceFolder ?? "")
    .replace(/\$\{env:([^}]*)\}/g, (_, name: string) => surroundings.environment[name] ?? "");
}
