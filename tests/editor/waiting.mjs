// Waiting for what a scenario expects, instead of for a time.

const PATIENCE_MS = Number(process.env.TORCHSLEUTH_EDITOR_WAIT ?? 150_000);
const POLL_MS = 50;

/** The first value of `probe` that `accept` likes. Fails, with the last value, when none comes. */
export async function until(what, probe, accept = Boolean) {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    let last;
    try {
      last = await probe();
      if (accept(last)) {
        return last;
      }
    } catch (error) {
      last = String(error);
    }
    if (Date.now() > deadline) {
      throw new Error(`waited in vain for ${what}; at last there was ${JSON.stringify(last, undefined, 1)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
