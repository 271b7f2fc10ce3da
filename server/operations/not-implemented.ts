import { Failure } from '../failure.ts';

/** Stands in the registry for an operation that a later version will carry out. */
export function notImplemented(): never {
  throw new Failure(501, 'not_implemented', 'This gateway does not carry out the operation yet.');
}
