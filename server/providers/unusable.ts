import { Failure } from '../failure.ts';

/** For an answer with status 200 that is none. */
export function unusable(): Failure {
  return new Failure(502, 'bad_response', 'The provider did not give a usable answer.');
}
