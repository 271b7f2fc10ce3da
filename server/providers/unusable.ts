import { Failure } from '../lib/failure.ts';

/** For an answer with status 200 that is none. */
export function unusableResponse(): Failure {
  return new Failure(502, 'bad_response', 'The provider did not give a usable answer.');
}

/** An answer in good form that holds nothing: there may have been nothing to make of what the client asked for. */
export class EmptyResponseFailure extends Failure<'bad_response'> {
  constructor(message: string) {
    super(502, 'bad_response', message);
  }
}
