/** Why a server from outside cannot be brought to a status. */
const byStatus: Readonly<Record<number, string>> = {
  403: 'The refusal needs a key of another kind.',
  404: 'What is asked for is there for everybody.',
  409: 'A thing that is not ready yet is needed.',
  429: 'No key can be made that may send one request a minute.',
  500: 'It takes an error inside the server that nobody thought of.',
  502: 'Its provider would have to fail.',
  503: 'Its store or its provider would have to be away.',
  504: 'Its provider would have to be silent until the time is over.',
};

export const reasonOfAnswer = (status: number, mediaType: string): string =>
  byStatus[status] ??
  (mediaType === 'application/json' || mediaType === ''
    ? 'No request of the run was answered so.'
    : 'The provider decides on the form of a file.');

export const reasonOfEvent = (channel: string, message: string): string => {
  if (channel === 'verificationCallback') return 'The page of a session wants a person to press a button.';
  if (channel.endsWith('Callback')) return 'It goes to an address that the server must be able to reach.';
  return message === 'BetaSpeechRejected' || message === 'NativeError' || message === 'MessageErrorEvent'
    ? 'Its provider would have to fail in the middle of a stream.'
    : 'No dialogue of the run led to it.';
};

export const reasonOfError = (error: string): string => {
  const status = Number(/\d{3}/.exec(error)?.[0]);
  if (error.startsWith('task ')) return 'A task would have to fail so.';
  return byStatus[status] ?? 'No request of the run was refused so.';
};
