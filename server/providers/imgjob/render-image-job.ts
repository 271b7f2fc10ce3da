import type { components } from '../../../generated/http.ts';
import type { FileLinks } from '../../media/file-links.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';
import { publicFileUrls } from '../client-links.ts';
import { chargeOf, queueOf } from '../video-task.ts';
import type { ImageFacts, ImageResult } from './image-job.ts';

type Schemas = components['schemas'];

export function renderImageJob(task: TaskRecord, links: FileLinks): Schemas['ImageJob'] {
  const facts = imageFacts(task);
  const result = imageResult(task);
  const { buttons = [], shown } = result;
  const files = publicFileUrls(result, ['image_url', 'video_url'], task, links);
  const status = task.state === 'queued' && result.waiting ? 'MODAL' : statuses[task.state];
  const isCompleted = status === 'SUCCESS';
  return {
    ...queueOf(task),
    ...chargeOf(task),
    id: task.id,
    action: facts.action,
    customId: facts.custom_id ?? null,
    prompt: facts.prompt ?? null,
    promptEn: null,
    description: null,
    ...shown,
    state: facts.state ?? null,
    submitTime: task.createdAt,
    startTime: task.startedAt ?? 0,
    finishTime: task.completedAt ?? 0,
    progress: `${task.progress}%`,
    status,
    // A provider may show a preview of an unfinished image.
    imageUrl: files.image_url ?? null,
    ...(isCompleted && files.video_url !== undefined && { videoUrl: files.video_url }),
    failReason: task.error?.message ?? null,
    buttons: isCompleted ? buttons : [],
    properties: shown?.properties ?? {},
  };
}

/** Renders the response of a submit call, also for a repeated request. */
export function renderSubmitted(task: TaskRecord): Schemas['ImageSubmitReply'] {
  const { submitted } = imageResult(task);
  const { code, properties } = submitted ?? { code: 1 as const, properties: {} };
  return { code, description: descriptions[code], result: task.id, properties };
}

const descriptions = {
  1: 'Submit success',
  21: 'Waiting for window confirm',
  22: 'In queue',
} as const satisfies Record<Schemas['ImageSubmitReply']['code'], string>;

export function imageFacts({ facts }: TaskRecord): ImageFacts {
  return { action: '', ...facts };
}

export function imageResult({ result }: TaskRecord): ImageResult {
  return result ?? {};
}

const statuses = {
  queued: 'SUBMITTED',
  in_progress: 'IN_PROGRESS',
  completed: 'SUCCESS',
  failed: 'FAILURE',
} as const;
