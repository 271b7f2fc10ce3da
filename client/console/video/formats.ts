import type { OperationId, Unigate } from '../../index.ts';
import type { TaskCalls } from '../calls/task-run.ts';
import type { JsonObject } from '../contract/form.ts';
import { type Medium, nativeMedia, officialContent, withGenericMedia } from './media.ts';

/** Fields that all formats have, by their path in the format. */
interface CommonPaths {
  prompt: string;
  resolution: string;
  ratio: string;
  seconds: string;
  seed: string;
  audio: string;
}

export type CommonField = keyof CommonPaths;

export interface VideoResult {
  id: string;
  url: string | undefined;
  /** The last frame, if the request asked for it. */
  frameUrl: string | undefined;
  /** The task as the gateway returned it. */
  task: object;
}

/** A format of video requests. */
export interface VideoFormat {
  title: string;
  operation: OperationId;
  /** Name of the client's methods: `videos`. */
  method: string;
  /** Protocols of the models that the format has. */
  protocols: readonly string[];
  paths: CommonPaths;
  /** Paths of the less common fields. */
  morePaths: readonly string[];
  calls: (client: Unigate) => TaskCalls<JsonObject, object, VideoResult>;
  cancel?: (client: Unigate, id: string) => Promise<unknown>;
  /** Returns the request body of a form with its media. */
  bodyOf: (body: JsonObject, media: readonly Medium[], protocol: string) => JsonObject;
}

interface FileTaskCalls<Task, Done extends Task> extends TaskCalls<never, object, Done> {
  urlOf(task: Task): string | undefined;
}

/** Returns the calls of one format, whose result is the same for all formats. */
function callsOf<Task, Done extends Task & object>(
  tasks: FileTaskCalls<Task, Done>,
  frameUrlOf: (task: Done) => string | undefined,
): TaskCalls<JsonObject, object, VideoResult> {
  return {
    create: (body, options) => tasks.create(body as never, options),
    idOf: (created) => tasks.idOf(created),
    async waitFor(id, options) {
      const task = await tasks.waitFor(id, options);
      return { id, url: tasks.urlOf(task), frameUrl: frameUrlOf(task), task };
    },
  };
}

const allProtocols = ['native_video', 'official', 'eta'];

/** Options of the official format. The generic formats accept them in `metadata`. */
const officialOptions = [
  'watermark',
  'return_last_frame',
  'camera_fixed',
  'draft',
  'output_format',
  'service_tier',
  'execution_expires_after',
  'priority',
  'safety_identifier',
  'callback_url',
];

const generic = {
  protocols: allProtocols,
  paths: {
    prompt: 'prompt',
    resolution: 'size',
    ratio: 'metadata.ratio',
    seconds: 'seconds',
    seed: 'metadata.seed',
    audio: 'metadata.generate_audio',
  },
  morePaths: [
    'omni_reference_task_type',
    ...officialOptions.map((name) => `metadata.${name}`),
    'metadata.parameters.prompt_extend',
    'custom_domain',
  ],
  bodyOf: withGenericMedia,
};

/** The format of `POST /v1/videos`, whose tasks can be listed. */
export const videosFormat: VideoFormat = {
  ...generic,
  title: 'Videos, all models',
  operation: 'createVideo',
  method: 'videos',
  calls: ({ videos }) => callsOf(videos, ({ metadata }) => metadata?.last_frame_url),
};

export const formats: readonly VideoFormat[] = [
  videosFormat,
  {
    ...generic,
    title: 'Video generations, all models',
    operation: 'createGenericVideo',
    method: 'videoGenerations',
    calls: ({ videoGenerations }) =>
      callsOf(videoGenerations, (task) =>
        'code' in task ? task.data.data?.content?.last_frame_url : task.metadata?.last_frame_url,
      ),
  },
  {
    title: 'Native, gamma models',
    operation: 'createNativeVideo',
    method: 'nativeVideos',
    protocols: ['native_video'],
    paths: {
      prompt: 'input.prompt',
      resolution: 'parameters.resolution',
      ratio: 'parameters.ratio',
      seconds: 'parameters.duration',
      seed: 'parameters.seed',
      audio: 'parameters.audio',
    },
    morePaths: ['parameters.prompt_extend', 'parameters.watermark'],
    calls: ({ nativeVideos }) => callsOf(nativeVideos, () => undefined),
    cancel: ({ nativeVideos }, id) => nativeVideos.cancel(id),
    bodyOf: (body, media) =>
      media.length === 0
        ? body
        : { ...body, input: { ...(body.input as JsonObject), media: nativeMedia(media) } },
  },
  {
    title: 'Official, Seedance models',
    operation: 'createOfficialVideo',
    method: 'officialVideos',
    protocols: ['official'],
    paths: {
      prompt: 'prompt',
      resolution: 'resolution',
      ratio: 'ratio',
      seconds: 'duration',
      seed: 'seed',
      audio: 'generate_audio',
    },
    morePaths: ['omni_reference_task_type', ...officialOptions],
    calls: ({ officialVideos }) => callsOf(officialVideos, ({ content }) => content.last_frame_url),
    cancel: ({ officialVideos }, id) => officialVideos.delete(id),
    bodyOf: ({ prompt, model, ...body }, media) => ({
      model,
      content: officialContent(prompt, media),
      ...body,
    }),
  },
];
