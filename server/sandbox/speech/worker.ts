import { parentPort, workerData } from 'node:worker_threads';
import type { AudioChunk, Command, Reply, Utterance, Word } from './commands.ts';
import { createEncoder } from './encoders/create-encoder.ts';
import type { AudioEncoder } from './encoders/encoder.ts';
import { EngineMissing, type Espeak, engineSampleRate, loadEspeak } from './espeak.ts';
import { applyGain } from './level.ts';
import { resample } from './resample.ts';

/** Speech worker thread. Holds one encoder per stream and processes one command at a time. */

/** Approximate length of a chunk. Short chunks let playback start while the rest is encoded. */
const chunkSeconds = 0.25;

const encoders = new Map<number, AudioEncoder>();
let engine: Promise<Espeak> | undefined;

async function speak(utterance: Utterance): Promise<{ samples: Float32Array; words: Word[] }> {
  engine ??= loadEspeak((workerData as { engine: string }).engine);
  try {
    return (await engine).speak(utterance);
  } catch (error) {
    // After a WebAssembly trap, the state of the engine is undefined, so the next sentence uses a new instance.
    engine = undefined;
    throw error;
  }
}

async function handle(command: Command): Promise<Reply | undefined> {
  if (command.kind === 'open') {
    encoders.set(command.streamId, await createEncoder(command.audio));
    return { kind: 'opened' };
  }
  const encoder = encoders.get(command.streamId);
  if (command.kind === 'close') {
    encoders.delete(command.streamId);
    encoder?.release();
    return undefined;
  }
  if (!encoder) throw new Error(`Stream ${command.streamId} is not open`);
  if (command.kind === 'finish')
    return { kind: 'spoken', chunks: encode(encoder, new Float32Array(), [], true), seconds: 0 };
  const { samples, words } = await speak(command.utterance);
  applyGain(samples, command.utterance.gain);
  const resampled = await resample(samples, engineSampleRate, encoder.inputRate);
  const audio = new Float32Array(
    resampled.length + Math.round((command.utterance.pause / 1000) * encoder.inputRate),
  );
  audio.set(resampled);
  return {
    kind: 'spoken',
    chunks: encode(encoder, audio, words, command.last),
    seconds: audio.length / encoder.inputRate,
  };
}

function encode(
  encoder: AudioEncoder,
  audio: Float32Array,
  words: readonly Word[],
  last: boolean,
): AudioChunk[] {
  const chunks: AudioChunk[] = [];
  let wordCount = 0;
  const add = (bytes: Uint8Array, end: number) => {
    // An encoder can hold back a short chunk. Its words are added to the next chunk.
    if (bytes.length === 0 && end < Infinity) return;
    const from = wordCount;
    while (wordCount < words.length && startsBefore(words[wordCount], end, encoder.inputRate)) wordCount++;
    const begun = words.slice(from, wordCount);
    // Copied because the encoder owns the bytes, and because only a separate buffer can be transferred.
    if (bytes.length > 0 || begun.length > 0) chunks.push({ data: new Uint8Array(bytes), words: begun });
  };
  const chunkCount = Math.max(1, Math.round(audio.length / (encoder.inputRate * chunkSeconds)));
  const length = Math.ceil(audio.length / chunkCount);
  for (let start = 0; start < audio.length; start += length) {
    add(encoder.encode(audio.subarray(start, start + length)), start + length);
  }
  add(last ? encoder.finish() : new Uint8Array(), Infinity);
  return chunks;
}

function startsBefore(word: Word | undefined, before: number, rate: number): boolean {
  return word !== undefined && word.beginTime * rate < before * 1000;
}

function failureReply(error: unknown): Reply {
  const message = error instanceof Error ? error.message : String(error);
  return { kind: 'failed', reason: error instanceof EngineMissing ? 'engine_missing' : 'internal', message };
}

// Commands run strictly in order, because a stream must not be closed while its sentence is being encoded.
let lastCommand = Promise.resolve();
parentPort?.on('message', (command: Command) => {
  lastCommand = lastCommand.then(async () => {
    const reply = await handle(command).catch(failureReply);
    if (reply)
      parentPort?.postMessage(
        reply,
        reply.kind === 'spoken' ? reply.chunks.map(({ data }) => data.buffer) : [],
      );
  });
});
