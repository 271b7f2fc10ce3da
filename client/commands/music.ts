import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { TaskFailedError } from '../errors.ts';
import type { MusicRequest, SucceededMusicTask } from '../music.ts';
import type { Unigate } from '../unigate.ts';
import { readFormat } from './audio-options.ts';
import type { Invocation } from './command-line.ts';
import { runTask, type TaskSteps } from './run-task.ts';
import { readParameters, readPrompt } from './task-options.ts';
import { printable, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';
import { readOutput } from './write-output.ts';

/** `unigate music`: writes a song, or with `--both` both songs of a task, to files or to standard output. */
export async function makeMusic(
  client: Unigate,
  invocation: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { options } = invocation;
  const output = readOutput(options, terminal);
  const variant = readFormat(undefined, output, ['mp3', 'wav'] as const) === 'wav' ? 'wav' : 'audio';
  if (options.both && output === '-') throw new UsageError('--both requires -o FILE.');
  const steps: TaskSteps<MusicRequest, SucceededMusicTask> = {
    readRequest: () => readMusicRequest(invocation, terminal, signal),
    async create(request, createSignal) {
      const created = await client.music.create(request, { signal: createSignal });
      // This gateway returns one id. If there are several, the first has the song.
      return client.music.idsOf(created)[0] ?? '';
    },
    waitFor: (id, callbacks) => client.music.waitFor(id, callbacks),
    receive({ task_id: taskId, data: songs }, receiveOptions, index) {
      const song = songs.filter(({ status }) => status !== 'error')[index];
      const message = index === 0 ? 'The task created no song.' : 'The task created only one song.';
      if (!song) throw new TaskFailedError({ code: 'no_song', message, taskId });
      return client.music.receive(song.id, { ...receiveOptions, variant });
    },
  };
  const outputs = options.both ? [1, 2].map((number) => numbered(output, number)) : [output];
  await runTask(steps, invocation, terminal, signal, { outputs, resumableOptions: ['both'] });
}

/** `unigate lyrics`: writes lyrics to a file or to standard output, and their title to standard error. */
export async function writeLyrics(
  client: Unigate,
  invocation: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const { output = '-' } = invocation.options;
  const steps: TaskSteps<{ prompt: string }, string> = {
    async readRequest() {
      const prompt = await readPrompt(invocation, terminal, signal);
      if (prompt === undefined) throw new UsageError('A prompt is required.');
      return { prompt };
    },
    create: async (request, createSignal) =>
      client.lyrics.idOf(await client.lyrics.create(request, { signal: createSignal })),
    async waitFor(id, callbacks, { printLine }) {
      const { title, text } = (await client.lyrics.waitFor(id, callbacks)).data;
      printLine(`title ${title}`);
      return text;
    },
    async *receive(text, { onBytes }) {
      const isTerminal = output === '-' && terminal.stdout.isTTY;
      const bytes = Buffer.from(`${isTerminal ? printable(text) : text}\n`);
      onBytes?.(bytes.length, bytes.length);
      yield bytes;
    },
  };
  await runTask(steps, invocation, terminal, signal, { outputs: [output] });
}

async function readMusicRequest(
  invocation: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<MusicRequest> {
  const { tags, title, lyrics, instrumental } = invocation.options;
  const description = await readPrompt(invocation, terminal, signal);
  if (lyrics !== undefined && (description !== undefined || instrumental))
    throw new UsageError(
      '--lyrics cannot be combined with a prompt or --instrumental; set the style with --tags.',
    );
  const parameters = readParameters(invocation.options);
  if ((description ?? lyrics ?? tags ?? parameters) === undefined)
    throw new UsageError('A prompt, --lyrics or --tags is required.');
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

/** Returns the lyrics. Reads a file for `@FILE` and standard input for `-`. */
async function readLyrics(value: string, terminal: Terminal, signal: AbortSignal): Promise<string> {
  const fromInput = () => readAll(addAbortSignal(signal, terminal.stdin));
  const fromFile = () => readFile(value.slice(1), 'utf8');
  const lyrics = value === '-' ? await fromInput() : value.startsWith('@') ? await fromFile() : value;
  if (lyrics.trim() === '') throw new UsageError('--lyrics must not be empty.');
  return lyrics;
}

function numbered(path: string, number: number): string {
  const extension = extname(path);
  return `${path.slice(0, path.length - extension.length)}-${number}${extension}`;
}
