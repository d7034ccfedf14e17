// Restarts: never two at once, and never one more than needed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { coalesced } from "../src/queue";

/** A job that the test lets end, and a record of how many were running at once. */
function gatedJob(): { job: () => Promise<void>; finish: (() => void)[]; mostAtOnce: () => number } {
  const finish: (() => void)[] = [];
  let active = 0;
  let most = 0;
  const job = async (): Promise<void> => {
    active += 1;
    most = Math.max(most, active);
    await new Promise<void>((resolve) => finish.push(resolve));
    active -= 1;
  };
  return { job, finish, mostAtOnce: () => most };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

void test("calls while a job runs become one more job, after it", async () => {
  const { job, finish, mostAtOnce } = gatedJob();
  const restart = coalesced(job);
  const first = restart();
  await settle();
  const others = [restart(), restart(), restart()];
  await settle();
  assert.equal(finish.length, 1);
  finish[0]?.();
  await first;
  const late = restart(); // between the end of the first and the beginning of the second
  await settle();
  assert.equal(finish.length, 2);
  finish[1]?.();
  await settle();
  finish[2]?.();
  await Promise.all([...others, late]);
  assert.equal(mostAtOnce(), 1);
});

void test("a failed job rejects its own call, and the next one is run", async () => {
  let runs = 0;
  const restart = coalesced(() => {
    runs += 1;
    return runs === 1 ? Promise.reject(new Error("no")) : Promise.resolve();
  });
  const first = restart();
  await assert.rejects(first, /no/);
  await restart();
  assert.equal(runs, 2);
});
