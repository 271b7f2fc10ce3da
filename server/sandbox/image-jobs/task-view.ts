import { createButtons } from './buttons.ts';
import type { ImageTask } from './image-jobs.ts';
import type { WaitingJob } from './waiting-jobs.ts';

type ImageStatus = 'NOT_START' | 'SUBMITTED' | 'MODAL' | 'IN_PROGRESS' | 'SUCCESS' | 'FAILURE';

interface TaskFields {
  status: ImageStatus;
  /** From 0 to 100. */
  progress: number;
  startTime?: number;
  finishTime?: number;
  imageUrl?: string;
  failReason?: string;
}

/** Formats a task for a query. Times are milliseconds since the epoch. */
export function formatTask(id: string, found: ImageTask | WaitingJob): object {
  const isWaiting = 'job' in found;
  const job = isWaiting ? found.job : found.request;
  const fields: TaskFields = isWaiting ? { status: 'MODAL', progress: 0 } : readStage(found);
  const buttons = !isWaiting && fields.status === 'SUCCESS' ? createButtons(found.request) : [];
  const { startTime = null, finishTime = null, imageUrl = null, failReason = null } = fields;
  return {
    id,
    action: job.action,
    customId: job.customId ?? null,
    botType: 'MID_JOURNEY',
    prompt: job.prompt,
    promptEn: job.prompt,
    description: job.description,
    state: job.state ?? null,
    submitTime: job.submittedAt,
    startTime,
    finishTime,
    progress: `${fields.progress}%`,
    status: fields.status,
    imageUrl,
    failReason,
    buttons: buttons.map(({ customId, label, emoji }) => ({ customId, emoji, label, type: 2, style: 2 })),
    properties: { finalPrompt: job.prompt, finalZhPrompt: null },
  };
}

function readStage(task: ImageTask): TaskFields {
  const stage = task.stage();
  switch (stage.name) {
    case 'queued':
      return { status: task.triggers.has('queued') ? 'NOT_START' : 'SUBMITTED', progress: 0 };
    case 'running':
      return { status: 'IN_PROGRESS', progress: stage.progress, startTime: stage.startedAt };
    case 'succeeded':
      return { status: 'SUCCESS', progress: 100, ...formatTimes(stage), imageUrl: stage.output.url };
    case 'failed':
      return { status: 'FAILURE', progress: 0, ...formatTimes(stage), failReason: stage.failure.message };
    // The protocol has no status for expired and canceled tasks.
    case 'expired':
    case 'canceled':
      return { status: 'FAILURE', progress: 0, finishTime: stage.endedAt, failReason: 'The task has ended' };
  }
}

function formatTimes({ startedAt, endedAt }: { startedAt: number; endedAt: number }) {
  return { startTime: startedAt, finishTime: endedAt };
}
