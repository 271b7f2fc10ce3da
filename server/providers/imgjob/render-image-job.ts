import type { components } from '../../../generated/http.ts';
import type { FileLinks } from '../../media/file-links.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';
import { shownFiles } from '../links-for.ts';
import type { ImageFacts, ImageResult } from './image-job.ts';

type Schemas = components['schemas'];

/** An image job as queries and callbacks show it. */
export function renderImageJob(task: TaskRecord, links: FileLinks): Schemas['ImageJob'] {
  const facts = imageFacts(task);
  const result = imageResult(task);
  const { buttons = [], shown } = result;
  const files = shownFiles(result, ['image_url', 'video_url'], task, links);
  const status = statusOf(task);
  const done = status === 'SUCCESS';
  return {
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
    // While it is drawn, a provider may show what there is of it.
    imageUrl: files.image_url ?? null,
    ...(done && files.video_url !== undefined && { videoUrl: files.video_url }),
    failReason: task.error?.message ?? null,
    buttons: done ? buttons : [],
    properties: shown?.properties ?? {},
  };
}

/** What the submit calls answer about a job, when it was made and when the same request is repeated. */
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

/** What the gateway remembers of the request: every image job has it. */
export function imageFacts({ facts }: TaskRecord): ImageFacts {
  return { action: '', ...facts };
}

export function imageResult({ result }: TaskRecord): ImageResult {
  return result ?? {};
}

function statusOf(task: TaskRecord): Schemas['ImageJob']['status'] {
  switch (task.state) {
    case 'queued':
      return imageResult(task).waiting ? 'MODAL' : 'SUBMITTED';
    case 'in_progress':
      return 'IN_PROGRESS';
    case 'completed':
      return 'SUCCESS';
    case 'failed':
      return 'FAILURE';
  }
}
