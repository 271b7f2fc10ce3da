/** Reasons why a client cannot cause a status from outside. */
const byStatus: Readonly<Record<number, string>> = {
  403: 'Needs a key of another kind.',
  404: 'The resource always exists.',
  409: 'Needs a resource that is not ready yet.',
  429: 'Needs a key with a limit of one request per minute.',
  500: 'Needs an unexpected error in the server.',
  502: 'Needs a provider failure.',
  503: 'Needs an unavailable store or provider.',
  504: 'Needs a provider timeout.',
};

export const reasonForResponse = (status: number, mediaType: string): string =>
  byStatus[status] ??
  (mediaType === 'application/json' || mediaType === ''
    ? 'No request of the run led to it.'
    : 'The provider chooses the file format.');

export const reasonForEvent = (channel: string, message: string): string => {
  if (channel === 'verificationCallback') return 'A person must submit the page of the session.';
  if (channel.endsWith('Callback')) return 'The server must be able to reach the callback address.';
  return message === 'BetaSpeechRejected' || message === 'NativeError' || message === 'MessageErrorEvent'
    ? 'Needs a provider failure during a stream.'
    : 'No dialogue of the run led to it.';
};

export const reasonForError = (error: string): string => {
  const status = Number(/\d{3}/.exec(error)?.[0]);
  if (error.startsWith('task ')) return 'Needs a task that fails with this code.';
  return byStatus[status] ?? 'No request of the run led to it.';
};
