import { basename, extname } from 'node:path';
import { decodeBase64 } from '../base64.ts';
import type { Unigate } from '../unigate.ts';
import { type CustomVoice, hasSharedService, type VoiceClone, type VoiceDesign } from '../voices.ts';
import { readFormat } from './audio-options.ts';
import type { Invocation, Options } from './command-line.ts';
import { audioTypes, isUrl, readMediaFile } from './media-options.ts';
import { Progress } from './progress.ts';
import { printTable, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';
import { writeAudio } from './write-output.ts';

const cloningModel = 'alpha3-tts-vc-2026-01-22';
const designModel = 'alpha3-tts-vd-2026-01-26';

/** `unigate voices clone`: creates a voice from a recording and prints its id once it is ready. */
export async function cloneVoice(
  client: Unigate,
  { text: recording, options }: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { model = cloningModel, text } = options;
  if (hasSharedService(model) && !isUrl(recording))
    throw new UsageError(`${model} clones only from a URL; for a file use --model ${cloningModel}.`);
  const path = URL.canParse(recording) ? new URL(recording).pathname : recording;
  const voice: VoiceClone = {
    ...readNames(options, model, basename(path, extname(path))),
    audio: await readMediaFile('recording', recording, audioTypes),
    ...(text !== undefined && { text }),
  };
  const created = await createVoice(() => client.voices.clone(voice, { signal }), options, terminal);
  await waitForVoice(client, created, options, terminal, signal);
}

/** `unigate voices design`: creates a voice from a description, writes its preview and prints its id. */
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
  const design = () => createVoice(() => client.voices.design(voice, { signal }), options, terminal);
  if (output === undefined) return waitForVoice(client, await design(), options, terminal, signal);

  let created: CustomVoice | undefined;
  async function* preview(): AsyncGenerator<Uint8Array, void> {
    const { preview_audio, ...others } = await design();
    created = others;
    if (preview_audio?.data) yield decodeBase64(preview_audio.data);
  }
  // Opens the file before the voice is charged.
  await writeAudio(preview(), output, options, terminal, signal);
  if (created) await waitForVoice(client, created, options, terminal, signal);
}

/** `unigate voices list`: prints id, model, status and creation time, one voice per line. */
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

/** `unigate voices delete`: deletes a voice. */
export async function deleteVoice(
  client: Unigate,
  { text: id }: Invocation,
  _terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  await client.voices.delete(id, { signal });
}

/** Creates a voice and prints its id on standard error. */
async function createVoice<Voice extends CustomVoice>(
  create: () => Promise<Voice>,
  options: Options,
  terminal: Terminal,
): Promise<Voice> {
  const progress = new Progress(terminal.stderr, options.quiet);
  progress.showStatus('waiting for the voice');
  try {
    const voice = await create();
    progress.printLine(`voice ${voice.id}`);
    return voice;
  } finally {
    progress.clear();
  }
}

/** Waits until the voice is ready. Prints its id unless the preview goes to standard output. */
async function waitForVoice(
  client: Unigate,
  voice: CustomVoice,
  options: Options,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const progress = new Progress(terminal.stderr, options.quiet);
  try {
    await client.voices.waitFor(voice, { signal, onProgress: ({ status }) => progress.showStatus(status) });
  } finally {
    progress.clear();
  }
  if (options.output !== '-') terminal.stdout.write(`${voice.id}\n`);
}

function readNames({ name, language = 'en' }: Options, model: string, defaultName: string) {
  const [maxLength, invalid] = hasSharedService(model) ? [10, /[^A-Za-z0-9]/g] : [16, /[^A-Za-z0-9_]/g];
  const validName = defaultName.replaceAll(invalid, '').slice(0, maxLength) || 'voice';
  // The gateway validates the language.
  return {
    target_model: model,
    name: name ?? validName,
    language: language as NonNullable<VoiceClone['language']>,
  };
}
