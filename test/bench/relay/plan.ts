/** What the client says and the upstream does in a session of the relay benchmark. */

export const relayModes = ['full speed', 'paced'] as const;
/** `full speed`: the upstream sends as fast as it is read; `paced`: as fast as the audio plays. */
export type RelayMode = (typeof relayModes)[number];

/** The texts that a client appends again and again: they tell the upstream how to speak. */
export const texts: Readonly<Record<RelayMode, string>> = {
  'full speed': 'be quick, now ',
  paced: 'take your time ',
};

/** Audio that one such text makes: 0.8 s of speech. */
export const framesPerText = 32;
/** A response is a sentence of four texts. */
export const framesPerResponse: number = 4 * framesPerText;

export const realtimePath = '/v1/realtime?model=alpha3-tts-flash-realtime';
