import { basename, extname } from 'node:path';
import { decodeBase64 } from '../base64.ts';
import type { Unigate } from '../unigate.ts';
import { type CustomVoice, isShared, type VoiceClone, type VoiceDesign } from '../voices.ts';
import { readFormat } from './audio-options.ts';
import { UsageError } from './check-options.ts';
import type { Invocation, Options } from './command-line.ts';
import { deliverAudio } from './deliver.ts';
import { audioTypes, isAddress, readMediaFile } from './media-options.ts';
import { Progress } from './progress.ts';
import { printTable, type Terminal } from './terminal.ts';

const cloningModel = 'alpha3-tts-vc-2026-01-22';
const designModel = 'alpha3-tts-vd-2026-01-26';

/** `unigate voices clone`: makes a voice from a recording and prints its id once it can speak. */
export async function cloneVoice(
  client: Unigate,
  { text: recording, options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { model = cloningModel, text } = options;
  if (isShared(model) && !isAddress(recording))
    throw new UsageError(`${model} clones from an address; for a file take --model ${cloningModel}.`);
  const path = URL.canParse(recording) ? new URL(recording).pathname : recording;
  const voice: VoiceClone = {
    ...readNames(options, model, basename(path, extname(path))),
    audio: await readMediaFile('recording', recording, audioTypes),
    ...(text !== undefined && { text }),
  };
  const made = await make(() => client.voices.clone(voice, { signal }), options, terminal);
  await finish(client, made, options, terminal, signal);
}

/** `unigate voices design`: makes a voice from a description, writes its preview and prints its id. */
export async function designVoice(
  client: Unigate,
  { text: voice_prompt, options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { model = designModel, output, text: preview_text = 'Good morning. This is how I sound.' } = options;
  const response_format = readFormat(undefined, output ?? '', ['wav', 'mp3', 'pcm'] as const);
  const voice: VoiceDesign = {
    ...readNames(options, model, 'voice'),
    voice_prompt,
    preview_text,
    ...(response_format && { parameters: { response_format } }),
  };
  const design = () => make(() => client.voices.design(voice, { signal }), options, terminal);
  if (output === undefined) return finish(client, await design(), options, terminal, signal);

  let made: CustomVoice | undefined;
  async function* preview(): AsyncGenerator<Uint8Array, void> {
    const { preview_audio, ...others } = await design();
    made = others;
    if (preview_audio?.data) yield decodeBase64(preview_audio.data);
  }
  // The file is opened before the voice is paid for.
  await deliverAudio(preview(), output, options, terminal, signal);
  if (made) await finish(client, made, options, terminal, signal);
}

/** `unigate voices list`: id, model, status and time of creation, a voice a line. */
export async function listOwnVoices(
  client: Unigate,
  { options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const voices = [];
  for await (const voice of client.voices.list({ signal }))
    if (options.model === undefined || voice.target_model === options.model) voices.push(voice);
  const rows = voices.map(({ id, target_model = '', status, gmt_create }) => [
    id,
    target_model,
    status,
    gmt_create,
  ]);
  printTable(terminal, options, rows, voices);
}

/** `unigate voices delete`. */
export async function deleteVoice(
  client: Unigate,
  { text: id }: Invocation,
  _terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  await client.voices.delete(id, { signal });
}

/** Makes a voice and tells its id. */
async function make<Voice extends CustomVoice>(
  create: () => Promise<Voice>,
  options: Options,
  terminal: Terminal,
): Promise<Voice> {
  const progress = new Progress(terminal.stderr, options.quiet);
  progress.wait('waiting for the voice');
  try {
    const made = await create();
    progress.tell(`voice ${made.id}`);
    return made;
  } finally {
    progress.clear();
  }
}

/** Waits until the voice can speak, and prints its id unless standard output is the preview's. */
async function finish(
  client: Unigate,
  voice: CustomVoice,
  options: Options,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const progress = new Progress(terminal.stderr, options.quiet);
  try {
    await client.voices.waitFor(voice, { signal, onProgress: ({ status }) => progress.wait(status) });
  } finally {
    progress.clear();
  }
  if (options.output !== '-') terminal.stdout.write(`${voice.id}\n`);
}

function readNames({ name, language = 'en' }: Options, model: string, otherwise: string) {
  const [longest, others] = isShared(model) ? [10, /[^A-Za-z0-9]/g] : [16, /[^A-Za-z0-9_]/g];
  const fitting = otherwise.replaceAll(others, '').slice(0, longest) || 'voice';
  // What it may be is the gateway's to judge.
  return {
    target_model: model,
    name: name ?? fitting,
    language: language as NonNullable<VoiceClone['language']>,
  };
}
