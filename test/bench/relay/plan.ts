/**
 * `full speed`: the upstream sends as fast as the client reads. `paced`: it sends short frames in real time. `conversation`: it
 * sends frames of 100 ms in real time, as providers do.
 */
export type RelayMode = 'full speed' | 'paced' | 'conversation';

/** The text that a client appends repeatedly. It selects the mode of the upstream. */
export const texts: Readonly<Record<RelayMode, string>> = {
  'full speed': 'be quick, now ',
  paced: 'take your time ',
  conversation: 'one of many is speaking ',
};

/** Format of the audio of a session: PCM of 16 bits, one channel. */
export interface AudioFormat {
  /** Frames per second of one session in real time. */
  framesPerSecond: number;
  /** In Hz. */
  sampleRate: number;
}

/** 25 ms of PCM at 48 kHz. */
export const shortFrames: AudioFormat = { framesPerSecond: 40, sampleRate: 48_000 };

/** The audio of each mode. */
export const formats: Readonly<Record<RelayMode, AudioFormat>> = {
  'full speed': shortFrames,
  paced: shortFrames,
  conversation: { framesPerSecond: 10, sampleRate: 24_000 },
};

/** Speech of one text. */
const secondsPerText = 0.8;
/** A response consists of four texts. */
export const textsPerResponse = 4;

/** Returns the number of audio frames of one text. */
export function framesPerText({ framesPerSecond }: AudioFormat): number {
  return secondsPerText * framesPerSecond;
}

/** Returns the mode that a text selects. @throws Error if it selects none */
export function modeOf(text: string): RelayMode {
  const mode = (Object.keys(texts) as RelayMode[]).find((one) => texts[one] === text);
  if (mode === undefined) throw new Error(`the stub received the text ${JSON.stringify(text)}`);
  return mode;
}

export const realtimePath = '/v1/realtime?model=alpha3-tts-flash-realtime';
