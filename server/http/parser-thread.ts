import { parentPort } from 'node:worker_threads';
import { Failure } from '../lib/failure.ts';
import { type BodyJob, type ParsedBody, parseBody } from './parse-body.ts';

/** The thread that parses large bodies, one after the other. */

/** A refusal, as it can be sent from a thread. */
type Refusal = Pick<Failure, 'status' | 'code' | 'message'>;

export type ParserReply = { readonly body: ParsedBody } | { readonly refusal: Refusal };

async function answer(job: BodyJob): Promise<ParserReply> {
  try {
    return { body: await parseBody(job) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { status, code, message } = error;
    return { refusal: { status, code, message } };
  }
}

// An error that is no refusal ends the thread; the parser starts another one.
parentPort?.on('message', (job: BodyJob) => {
  void answer(job).then((reply) => parentPort?.postMessage(reply));
});
