/** An error with a hint for the user as its message. `cause` is the original error. */
export class ErrorWithHint extends Error {
  override readonly name = 'AdvisedError';

  constructor(hint: string, cause: unknown) {
    super(hint, { cause });
  }
}
