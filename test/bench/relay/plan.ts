/** `full speed`: the upstream sends as fast as the client reads. `paced`: it sends in real time. */
export type RelayMode = 'full speed' | 'paced';

/** The text that a client appends repeatedly. It selects the mode of the upstream. */
export const texts: Readonly<Record<RelayMode, string>> = {
  'full speed': 'be quick, now ',
  paced: 'take your time ',
};

/** Audio frames of one text: 0.8 s of speech. */
export const framesPerText = 32;
/** A response consists of four texts. */
export const framesPerResponse: number = 4 * framesPerText;

export const realtimePath = '/v1/realtime?model=alpha3-tts-flash-realtime';
