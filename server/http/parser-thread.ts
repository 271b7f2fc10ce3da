import { parentPort } from 'node:worker_threads';
import { Failure } from '../lib/failure.ts';
import { type BodyJob, parseBody } from './parse-body.ts';

/** The part of a failure that can be sent between threads. */
type Refusal = Pick<Failure, 'status' | 'code' | 'message'>;

export type ParserReply = { readonly body: unknown } | { readonly refusal: Refusal };

async function answer(job: BodyJob): Promise<ParserReply> {
  try {
    return { body: await parseBody(job) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { status, code, message } = error;
    return { refusal: { status, code, message } };
  }
}

// Any other error ends the thread. The parser starts another one.
parentPort?.on('message', (job: BodyJob) => {
  void answer(job).then((reply) => parentPort?.postMessage(reply));
});
