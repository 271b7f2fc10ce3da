import { type Model, type ModelVoice, type Unigate, wavHeader } from '../../index.ts';

const sampleRateHz = 24_000;
const samples = new Map<string, Promise<Blob>>();

/** Returns a sentence in the language that the voice speaks best. */
function sentenceOf({ id, name = id, languages = [], custom }: ModelVoice): string {
  if (custom) return 'Hello, this is how your own voice sounds.';
  return languages[0] === 'zh' ? `你好，我是${name}。` : `Hello, I am ${name}.`;
}

/** Returns a short sample of a voice. The page synthesizes it once; it costs as much as any other call. */
export function sampleOf(client: Unigate, model: Model, voice: ModelVoice): Promise<Blob> {
  const key = `${model.id} ${voice.id}`;
  const sample = samples.get(key) ?? synthesize(client, model, voice);
  samples.set(key, sample);
  sample.catch(() => samples.delete(key));
  return sample;
}

async function synthesize(
  client: Unigate,
  { id: model, protocols }: Model,
  voice: ModelVoice,
): Promise<Blob> {
  const input = sentenceOf(voice);
  if (!protocols.includes('realtime')) {
    const audio = await client.speech.create({ model, voice: voice.id, input });
    return new Blob([await audio.bytes()], { type: audio.contentType });
  }
  const session = await client.realtime(model);
  const options = { voice: voice.id, sample_rate: sampleRateHz } as const;
  const chunks = await Array.fromAsync(session.speak(input, options), (chunk) => new Uint8Array(chunk));
  return wavOf(chunks, sampleRateHz);
}

/** Returns 16-bit mono PCM as a WAV file. */
export function wavOf(chunks: readonly Uint8Array<ArrayBuffer>[], sampleRate: number): Blob {
  const bytes = chunks.reduce((total, { length }) => total + length, 0);
  return new Blob([new Uint8Array(wavHeader(sampleRate, bytes)), ...chunks], { type: 'audio/wav' });
}
