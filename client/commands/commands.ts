import type { Unigate } from '../unigate.ts';
import {
  createAccount,
  createAccountKey,
  deleteAccountKey,
  listAccountKeys,
  listAccounts,
  updateAccount,
  updateAccountKey,
} from './accounts.ts';
import { showAsset, uploadAsset } from './assets.ts';
import { chat } from './chat.ts';
import { defineCommand, type Invocation } from './command-line.ts';
import { setConfig, showConfig, unsetConfig } from './config.ts';
import { cloneVoice, deleteVoice, designVoice, listOwnVoices } from './custom-voices.ts';
import { embed } from './embed.ts';
import { makeImage } from './image.ts';
import { listen } from './listen.ts';
import { tailLogs } from './logs.ts';
import { createMember, deleteMember, listMembers, updateMember } from './members.ts';
import { makeModel3d } from './model3d.ts';
import { listModels } from './models.ts';
import { makeMusic, writeLyrics } from './music.ts';
import type { CommandHelp } from './program.ts';
import { speak } from './speak.ts';
import { showStatement } from './statement.ts';
import { cancelTask, listTasks, showTask } from './tasks.ts';
import type { Terminal } from './terminal.ts';
import { makeVideo } from './video.ts';
import { listVoices } from './voices.ts';

/** Runs a command without a gateway. */
type RunLocally = (invocation: Invocation, terminal: Terminal) => Promise<void>;

type Run = (
  client: Unigate,
  invocation: Invocation,
  terminal: Terminal,
  signal: AbortSignal,
) => Promise<void>;

const output = 'output file; - is standard output';
const resume = 'wait for an existing task and download its file';
const json = 'print JSON as in the contract';
const prompt = {
  argument: 'PROMPT',
  argumentDescription: 'one prompt in quotes; - reads standard input',
  isOptional: true,
} as const;

/** Descriptions of the groups of commands. */
export const groups = {
  assets: 'register media for Seedance requests',
  tasks: 'show and cancel tasks',
  logs: 'show the request log',
  members: 'manage the members of your user',
  accounts: 'manage the sub-accounts of your user',
  config: 'store the address of the gateway and the key',
} as const;

/** The commands by name. The first word of a longer name is a group. */
export const commands: Readonly<Record<string, CommandHelp & ({ run: Run } | { runLocally: RunLocally })>> = {
  speak: defineCommand({
    argument: 'TEXT',
    argumentDescription: 'one text in quotes; - reads standard input',
    description: 'synthesize speech',
    options: {
      output,
      voice: 'id of a voice of the model (required); unigate voices lists all voices',
      model:
        'default: alpha3-tts-flash, alpha3-tts-flash-realtime with --realtime, voxa-v3-flash with --duplex',
      format:
        'wav, mp3, pcm, opus or, except with --realtime and --duplex, flac; default: from the file extension',
      instructions: 'speaking style, for instruct models',
      speed: '1 is normal',
      'sample-rate': 'in Hz, for models with several sample rates',
      stream: 'receive the audio while it is generated',
      realtime: 'use a realtime socket, which accepts text while the audio plays',
      duplex: 'use an inference socket in the same way',
    },
    examples: [
      'speak "Good morning." --voice Aria -o morning.wav',
      'speak - --voice voxanna --duplex -o story.mp3 < story.txt',
    ],
    run: speak,
  }),
  video: defineCommand({
    ...prompt,
    description: 'create a video',
    options: {
      output,
      model: 'default: gamma3.0-video-prime',
      seconds: 'duration in seconds; =-1 lets the model choose',
      size: 'resolution, for example 720P',
      ratio: 'aspect ratio, for example 16:9',
      image: 'start image or, with Seedance models, reference image: a file or a URL',
      'first-frame': 'image of the first frame: a file or a URL',
      'last-frame': 'image of the last frame, with --first-frame',
      'reference-image': 'reference for people, objects or style; repeatable',
      video: 'reference video or, with eta models, a video to edit',
      'no-audio': 'no soundtrack',
      seed: 'seed of the model, a whole number',
      param: 'additional model parameter; repeatable',
      resume,
    },
    examples: [
      'video "A paper boat sails down a rainy street." --seconds 5 --size 720P -o boat.mp4',
      'video "The flower opens." --first-frame bud.png --last-frame bloom.png -o flower.mp4',
      'video --resume task_0a1b2c3d4e5f60718293a4b5c6d7e8f9 -o boat.mp4',
    ],
    run: makeVideo,
  }),
  music: defineCommand({
    ...prompt,
    description: 'create a song',
    options: {
      output: '.mp3 or .wav file; - is standard output',
      tags: 'styles, such as "folk, slow"',
      title: 'title of the song',
      lyrics: 'lyrics instead of a prompt; @FILE reads a file, - reads standard input',
      instrumental: 'no vocals',
      both: 'write both songs of the task, as FILE-1 and FILE-2',
      param: 'additional request field; repeatable',
      resume,
    },
    examples: [
      'music "A slow song about the sea" -o song.mp3',
      'music --lyrics @words.txt --tags "folk, slow" --both -o tide.mp3',
    ],
    run: makeMusic,
  }),
  lyrics: defineCommand({
    ...prompt,
    description: 'write lyrics',
    options: { output: 'output file; default and -: standard output', resume },
    examples: ['lyrics "A lullaby for a lighthouse" -o words.txt'],
    run: writeLyrics,
  }),
  image: defineCommand({
    ...prompt,
    description: 'create a grid of four images, or one of them with --upscale',
    options: {
      output,
      'reference-image': 'reference image, a file; repeatable',
      upscale: 'upscale one of the four images, 1 to 4',
      resume,
    },
    examples: ['image "a harbor at dusk" --upscale 2 -o harbor.png'],
    run: makeImage,
  }),
  model3d: defineCommand({
    ...prompt,
    description: 'create a 3D model as GLB',
    options: {
      output,
      model: 'default: theta-3d',
      image: 'URL of an image, instead of a prompt',
      param: 'additional model parameter; repeatable',
      resume,
    },
    examples: ['model3d "A wooden rocking horse." -o horse.glb'],
    run: makeModel3d,
  }),
  models: defineCommand({
    description: 'list the models that the key may use',
    options: { json },
    examples: ['models', 'models --json'],
    run: listModels,
  }),
  voices: defineCommand({
    description: 'list the system voices',
    options: { model: 'only voices of this model', json },
    examples: ['voices --model voxa-v3-flash'],
    run: listVoices,
  }),
  'voices clone': defineCommand({
    argument: 'RECORDING',
    argumentDescription: 'a file (WAV, MP3 or M4A) or a URL',
    description: 'create a voice from a recording',
    options: {
      model:
        'default: alpha3-tts-vc-2026-01-22, also for files; voxa and alpha-audio models clone only from URLs',
      name: 'part of the voice id; default: from the file name',
      language: 'default: en',
      text: 'transcript of the recording',
    },
    examples: ['voices clone me.wav --name me'],
    run: cloneVoice,
  }),
  'voices design': defineCommand({
    argument: 'DESCRIPTION',
    argumentDescription: 'one description in quotes',
    description: 'create a voice from a description',
    options: {
      output: 'file for a preview; - is standard output',
      model: 'default: alpha3-tts-vd-2026-01-26',
      name: 'part of the voice id; default: voice',
      language: 'default: en',
      text: 'text of the preview',
    },
    examples: ['voices design "A calm low voice." --name guide -o preview.wav'],
    run: designVoice,
  }),
  'voices list': defineCommand({
    description: 'list your own voices',
    options: { model: 'only voices of this model', json },
    examples: ['voices list'],
    run: listOwnVoices,
  }),
  'voices delete': defineCommand({
    argument: 'VOICE',
    argumentDescription: 'id of the voice',
    description: 'delete one of your own voices',
    options: {},
    examples: ['voices delete "$VOICE"'],
    run: deleteVoice,
  }),
  'assets upload': defineCommand({
    argument: 'URL',
    argumentDescription: 'http or https address of the file',
    description: 'register media and print its asset:// address',
    options: {
      type: 'image, video or audio; default: from the extension of the URL',
      name: 'name of the asset',
      model: 'only zeta-delta-2-0-fast-260128, for its own assets',
    },
    examples: ['assets upload https://files.example/cat.png'],
    run: uploadAsset,
  }),
  'assets show': defineCommand({
    argument: 'ASSET',
    argumentDescription: 'id of the asset',
    description: 'show an asset and its status',
    options: { model: 'only zeta-delta-2-0-fast-260128, for its own assets', json },
    examples: ['assets show asset-20260301120000-k3v9q'],
    run: showAsset,
  }),
  chat: defineCommand({
    argument: 'MESSAGE',
    argumentDescription:
      'one message in quotes; - reads standard input; without it, each line of input is a message',
    isOptional: true,
    description: 'print the answer to a message, or hold a conversation',
    options: {
      model: 'default: iota-chat-1',
      system: 'instructions for the whole conversation',
      'max-tokens': 'maximum length of an answer in tokens; default: 1024',
    },
    examples: [
      'chat "When is low tide?"',
      'chat --system "Answer in one sentence."',
      'chat - < question.txt',
    ],
    run: chat,
  }),
  embed: defineCommand({
    argument: 'TEXT',
    argumentDescription: 'one text in quotes; - reads one text per line from standard input',
    description: 'print the vector of a text as a JSON array',
    options: {
      model: 'default: theta-embedding-1',
      dimensions: 'number of components, for models with a choice',
      json,
    },
    examples: ['embed "Low tide is at noon."', 'embed - < lines.txt > vectors.jsonl'],
    run: embed,
  }),
  'tasks list': defineCommand({
    description: 'list your newest tasks of all formats',
    options: { limit: 'maximum number of tasks; default: 20', json },
    examples: ['tasks list --limit 5'],
    run: listTasks,
  }),
  'tasks show': defineCommand({
    argument: 'TASK',
    argumentDescription: 'id of a task of any format',
    description: 'show a task',
    options: { json },
    examples: ['tasks show task_0a1b2c3d4e5f60718293a4b5c6d7e8f9'],
    run: showTask,
  }),
  'tasks cancel': defineCommand({
    argument: 'TASK',
    argumentDescription: 'id of a native or official task',
    description: 'cancel a task that has not started',
    options: {},
    examples: ['tasks cancel task_0a1b2c3d4e5f60718293a4b5c6d7e8f9'],
    run: cancelTask,
  }),
  'logs tail': defineCommand({
    argument: 'KEYWORD',
    argumentDescription:
      'part of a model or key name, the first 16 or more characters of a request id, or a task id',
    isOptional: true,
    description: 'print the last entries of the request log, then new ones as they arrive',
    options: {
      lines: 'number of entries to start with; default: 10',
      interval: 'seconds between two requests; default: 2',
      'no-follow': 'end after the first entries',
      json: 'print one JSON object per line',
    },
    examples: ['logs tail', 'logs tail voxa-v3-flash --json'],
    run: tailLogs,
  }),
  statement: defineCommand({
    argument: 'MONTH',
    argumentDescription: 'year and month, such as 2026-11; default: list the months',
    isOptional: true,
    description: 'show or save the monthly statement of the user of the key',
    options: {
      output: '.html file for printing, or .csv file; - is CSV on standard output',
      account: 'id of a sub-account; default: the user with all sub-accounts',
      json,
    },
    examples: ['statement', 'statement 2026-11 --account 5', 'statement 2026-11 -o november.html'],
    run: showStatement,
  }),
  'members list': defineCommand({
    description: 'list the members of your user',
    options: { json },
    examples: ['members list'],
    run: listMembers,
  }),
  'members create': defineCommand({
    argument: 'NAME',
    argumentDescription: 'name of the member',
    description: 'add a member and print the id',
    options: { role: 'owner, developer or billing (required)' },
    examples: ['members create Ada --role developer'],
    run: createMember,
  }),
  'members update': defineCommand({
    argument: 'ID',
    argumentDescription: 'id of the member',
    description: 'change a member',
    options: { name: 'new name', role: 'owner, developer or billing', json },
    examples: ['members update 3 --role billing'],
    run: updateMember,
  }),
  'members delete': defineCommand({
    argument: 'ID',
    argumentDescription: 'id of the member',
    description: 'remove a member and delete its keys',
    options: {},
    examples: ['members delete 3'],
    run: deleteMember,
  }),
  'accounts list': defineCommand({
    description: 'list the sub-accounts of your user with their spending',
    options: { json },
    examples: ['accounts list'],
    run: listAccounts,
  }),
  'accounts create': defineCommand({
    argument: 'NAME',
    argumentDescription: 'name of the sub-account',
    description: 'create a sub-account and print the id',
    options: {},
    examples: ['accounts create "Paris office"'],
    run: createAccount,
  }),
  'accounts update': defineCommand({
    argument: 'ID',
    argumentDescription: 'id of the sub-account',
    description: 'rename, disable or enable a sub-account',
    options: { name: 'new name', disable: 'reject its keys', enable: 'accept its keys again', json },
    examples: ['accounts update 5 --name "Lyon office"', 'accounts update 5 --disable'],
    run: updateAccount,
  }),
  'accounts key': defineCommand({
    argument: 'ID',
    argumentDescription: 'id of the sub-account',
    description: 'create a key of a sub-account and print its secret, which is shown only once',
    options: {
      name: 'name of the key (required)',
      quota: 'part of the wallet that the key may spend; default: limited by the wallet only',
    },
    examples: ['accounts key 5 --name web', 'accounts key 5 --name trial --quota 500'],
    run: createAccountKey,
  }),
  'accounts keys': defineCommand({
    argument: 'ID',
    argumentDescription: 'id of the sub-account',
    description: 'list the keys of a sub-account',
    options: { json },
    examples: ['accounts keys 5'],
    run: listAccountKeys,
  }),
  'accounts update-key': defineCommand({
    argument: 'KEY-ID',
    argumentDescription: 'id of the key',
    description: 'rename, disable or enable a key of a sub-account',
    options: {
      account: 'id of the sub-account (required)',
      name: 'new name',
      disable: 'reject the key',
      enable: 'accept the key again',
      json,
    },
    examples: ['accounts update-key 7 --account 5 --disable'],
    run: updateAccountKey,
  }),
  'accounts delete-key': defineCommand({
    argument: 'KEY-ID',
    argumentDescription: 'id of the key',
    description: 'delete a key of a sub-account and the keys created with it',
    options: { account: 'id of the sub-account (required)' },
    examples: ['accounts delete-key 7 --account 5'],
    run: deleteAccountKey,
  }),
  listen: defineCommand({
    description:
      'forward the callbacks of your tasks and endpoints to a local address until it is interrupted',
    options: {
      'forward-to': 'address that receives the callbacks, for example http://localhost:3000/hook (required)',
      interval: 'seconds between two requests; default: 2',
      json: 'print one JSON object per line',
    },
    examples: ['listen --forward-to http://localhost:3000/hook'],
    run: listen,
  }),
  'config set': defineCommand({
    argument: 'NAME=VALUE',
    argumentDescription: 'base-url or key; the value - reads standard input',
    description: 'store a setting in a file that only you can read',
    options: {},
    examples: ['config set base-url=https://gateway.example', 'config set key=- < key.txt'],
    runLocally: setConfig,
  }),
  'config show': defineCommand({
    description: 'show the stored settings, without the key',
    options: { json: 'print JSON' },
    examples: ['config show'],
    runLocally: showConfig,
  }),
  'config unset': defineCommand({
    argument: 'NAME',
    argumentDescription: 'base-url or key',
    description: 'remove a stored setting',
    options: {},
    examples: ['config unset key'],
    runLocally: unsetConfig,
  }),
};
