// What each command of the palette does.
import * as vscode from "vscode";
import { activeFolder, chooseInterpreter } from "./choose";
import { installPyTorch } from "./install";
import { chosenInterpreter } from "./interpreter";
import { COMMANDS } from "./names";
import { SERVER_CLEAR } from "./protocol";
import type { Reports } from "./report";
import type { Runner } from "./run";
import type { Server } from "./server";

export function registerCommands(
  server: Server,
  runner: Runner,
  reports: Reports,
  log: vscode.LogOutputChannel,
): vscode.Disposable {
  const register = vscode.commands.registerCommand;
  return vscode.Disposable.from(
    register(COMMANDS.restart, server.restart),
    register(COMMANDS.showLogs, () => {
      log.show();
    }),
    register(COMMANDS.chooseInterpreter, () => chooseInterpreter(log)),
    register(COMMANDS.installPyTorch, async (python?: string) => {
      const target = python ?? (await chosenInterpreter(activeFolder(), log)) ?? server.python();
      if (target !== undefined) {
        installPyTorch(target);
      }
    }),
    register(COMMANDS.runAndDiagnose, runner.run),
    register(COMMANDS.runWithArguments, runner.runWithArguments),
    register(COMMANDS.runModule, runner.runModule),
    register(COMMANDS.runConfiguration, runner.runConfiguration),
    register(COMMANDS.runAgain, runner.runAgain),
    register(COMMANDS.probe, runner.probe),
    register(COMMANDS.showReport, reports.show),
    register(COMMANDS.stopRun, runner.stop),
    register(COMMANDS.clearResults, () => server.execute(SERVER_CLEAR)),
  );
}
