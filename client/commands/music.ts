import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { TaskFailedError } from '../errors.ts';
import type { MusicRequest, SucceededMusicTask } from '../music.ts';
import type { Unigate } from '../unigate.ts';
import { readFormat } from './audio-options.ts';
import { UsageError } from './check-options.ts';
import type { Invocation } from './command-line.ts';
import { readOutput } from './deliver.ts';
import { type Making, takeResult } from './take-result.ts';
import { readParameters, readPrompt } from './task-options.ts';
import { printable, type Terminal } from './terminal.ts';

/** `unigate music`: writes a song, or with `--both` the two that a task makes, to files or to standard output. */
export async function makeMusic(
  client: Unigate,
  invocation: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { options } = invocation;
  const output = readOutput(options, terminal);
  const variant = readFormat(undefined, output, ['mp3', 'wav'] as const) === 'wav' ? 'wav' : 'audio';
  if (options.both && output === '-') throw new UsageError('--both: give -o FILE.');
  const making: Making<MusicRequest, SucceededMusicTask> = {
    readRequest: () => readMusicRequest(invocation, terminal, signal),
    async create(request, late) {
      const created = await client.music.create(request, { signal: late });
      // This gateway names one; of several the first has what is wanted.
      return client.music.idsOf(created)[0] ?? '';
    },
    waitFor: (id, watching) => client.music.waitFor(id, watching),
    receive({ task_id: taskId, data: songs }, receiving, index) {
      const song = songs.filter(({ status }) => status !== 'error')[index];
      const message = index === 0 ? 'The task made no song.' : 'The task made one song only.';
      if (!song) throw new TaskFailedError({ code: 'no_song', message, taskId });
      return client.music.receive(song.id, { ...receiving, variant });
    },
  };
  const outputs = options.both ? [1, 2].map((number) => numbered(output, number)) : [output];
  await takeResult(making, invocation, terminal, signal, { outputs, lasting: ['both'] });
}

/** `unigate lyrics`: writes lyrics to a file or to standard output; their title goes to standard error. */
export async function writeLyrics(
  client: Unigate,
  invocation: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { output = '-' } = invocation.options;
  const making: Making<{ prompt: string }, string> = {
    async readRequest() {
      const prompt = await readPrompt(invocation, terminal, signal);
      if (prompt === undefined) throw new UsageError('Give a prompt.');
      return { prompt };
    },
    create: async (request, late) =>
      client.lyrics.idOf(await client.lyrics.create(request, { signal: late })),
    async waitFor(id, watching, { tell }) {
      const { title, text } = (await client.lyrics.waitFor(id, watching)).data;
      tell(`title ${title}`);
      return text;
    },
    async *receive(text, { onBytes }) {
      const shown = output === '-' && terminal.stdout.isTTY;
      const bytes = Buffer.from(`${shown ? printable(text) : text}\n`);
      onBytes?.(bytes.length, bytes.length);
      yield bytes;
    },
  };
  await takeResult(making, invocation, terminal, signal, { outputs: [output] });
}

async function readMusicRequest(
  invocation: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<MusicRequest> {
  const { tags, title, lyrics, instrumental } = invocation.options;
  const description = await readPrompt(invocation, terminal, signal);
  if (lyrics !== undefined && (description !== undefined || instrumental))
    throw new UsageError('--lyrics goes without a prompt and --instrumental; say the style with --tags.');
  const parameters = readParameters(invocation.options);
  if ((description ?? lyrics ?? tags ?? parameters) === undefined)
    throw new UsageError('Give a prompt, --lyrics or --tags.');
  return {
    mv: 'chirp-hawk',
    custom_mode: lyrics === undefined ? 0 : 1,
    ...(description !== undefined && { gpt_description_prompt: description }),
    ...(lyrics !== undefined && { prompt: await readLyrics(lyrics, terminal, signal) }),
    ...(tags !== undefined && { tags }),
    ...(title !== undefined && { title }),
    ...(instrumental && { make_instrumental: 1 }),
    ...parameters,
  };
}

/** Lyrics as they are; of a file for `@FILE`, of standard input for `-`. */
async function readLyrics(value: string, terminal: Terminal, signal: AbortSignal): Promise<string> {
  const fromInput = () => readAll(addAbortSignal(signal, terminal.stdin));
  const fromFile = () => readFile(value.slice(1), 'utf8');
  const lyrics = value === '-' ? await fromInput() : value.startsWith('@') ? await fromFile() : value;
  if (lyrics.trim() === '') throw new UsageError('--lyrics: there are none.');
  return lyrics;
}

function numbered(path: string, number: number): string {
  const ending = extname(path);
  return `${path.slice(0, path.length - ending.length)}-${number}${ending}`;
}
