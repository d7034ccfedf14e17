// The commands that package.json declares.

export const COMMANDS = {
  restart: "torchsleuth.restart",
  showLogs: "torchsleuth.showLogs",
  chooseInterpreter: "torchsleuth.chooseInterpreter",
  installPyTorch: "torchsleuth.installPyTorch",
  runAndDiagnose: "torchsleuth.runAndDiagnose",
  runWithArguments: "torchsleuth.runWithArguments",
  runModule: "torchsleuth.runModule",
  runConfiguration: "torchsleuth.runConfiguration",
  runAgain: "torchsleuth.runAgain",
  probe: "torchsleuth.probe",
  showReport: "torchsleuth.showReport",
  stopRun: "torchsleuth.stopRun",
  clearResults: "torchsleuth.clearResults",
} as const;

/** Context key: true while a script is run. */
export const RUNNING = "torchsleuth.running";
