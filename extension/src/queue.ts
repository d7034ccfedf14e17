// Runs asynchronous jobs one after the other, and drops those that a newer one makes superfluous.

/**
 * A function that runs `job` now, or after the present one has ended. Calls that come while one is already waiting
 * share its turn: it has yet to begin, so it sees everything that they know.
 */
export function coalesced(job: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let waiting: Promise<void> | undefined;
  return () => {
    if (waiting !== undefined) {
      return waiting;
    }
    const turn = last
      .catch(() => undefined)
      .then(() => {
        waiting = undefined;
        return job();
      });
    waiting = turn;
    last = turn;
    return turn;
  };
}
