/** An error, its `cause`, and what can be done about it, which is the message. */
export class AdvisedError extends Error {
  override readonly name = 'AdvisedError';

  constructor(advice: string, cause: unknown) {
    super(advice, { cause });
  }
}
