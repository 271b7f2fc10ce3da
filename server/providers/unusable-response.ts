import { Failure } from '../lib/failure.ts';

/** Builds the failure for a provider's response that breaks its protocol. */
export function badResponse(message: string, cause?: unknown): Failure {
  return new Failure(502, 'bad_response', message, { cause });
}

/** Builds the failure for an invalid response with status 200. */
export function unusableResponse(): Failure {
  return badResponse('The provider did not give a usable answer.');
}

/** A valid response without output. The request may be the cause, so it does not count against the channel. */
export class EmptyResponseFailure extends Failure<'bad_response'> {
  constructor(message: string) {
    super(502, 'bad_response', message);
  }
}
