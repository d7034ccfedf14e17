// Runs asynchronous jobs one after the other, and drops those that a newer one makes superfluous.

/** A function that runs `job` now or after the present one; of several waiting calls only one is run. */
export function coalesced(job: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let waiting: Promise<void> | undefined;
  return () => {
    if (running === undefined) {
      running = job().finally(() => {
        running = undefined;
      });
      return running;
    }
    waiting ??= running
      .catch(() => undefined)
      .then(() => {
        waiting = undefined;
        running = job().finally(() => {
          running = undefined;
        });
        return running;
      });
    return waiting;
  };
}
