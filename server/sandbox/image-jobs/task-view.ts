import { buttonsOf } from './buttons.ts';
import type { ImageTask } from './image-jobs.ts';
import type { WaitingJob } from './waiting-jobs.ts';

type ImageStatus = 'NOT_START' | 'SUBMITTED' | 'MODAL' | 'IN_PROGRESS' | 'SUCCESS' | 'FAILURE';

interface Shown {
  status: ImageStatus;
  /** From 0 to 100. */
  progress: number;
  startTime?: number;
  finishTime?: number;
  imageUrl?: string;
  failReason?: string;
}

/** The task as a query shows it. Times are milliseconds since the epoch. */
export function showTask(id: string, found: ImageTask | WaitingJob): object {
  const isWaiting = 'job' in found;
  const job = isWaiting ? found.job : found.request;
  const shown: Shown = isWaiting ? { status: 'MODAL', progress: 0 } : stageOf(found);
  const buttons = !isWaiting && shown.status === 'SUCCESS' ? buttonsOf(found.request) : [];
  const { startTime = null, finishTime = null, imageUrl = null, failReason = null } = shown;
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
    progress: `${shown.progress}%`,
    status: shown.status,
    imageUrl,
    failReason,
    buttons: buttons.map(({ customId, label, emoji }) => ({ customId, emoji, label, type: 2, style: 2 })),
    properties: { finalPrompt: job.prompt, finalZhPrompt: null },
  };
}

function stageOf(task: ImageTask): Shown {
  const stage = task.stage();
  switch (stage.name) {
    case 'queued':
      return { status: task.triggers.has('queued') ? 'NOT_START' : 'SUBMITTED', progress: 0 };
    case 'running':
      return { status: 'IN_PROGRESS', progress: stage.progress, startTime: stage.startedAt };
    case 'succeeded':
      return { status: 'SUCCESS', progress: 100, ...timesOf(stage), imageUrl: stage.output.url };
    case 'failed':
      return { status: 'FAILURE', progress: 0, ...timesOf(stage), failReason: stage.failure.message };
    // The protocol has neither of these.
    case 'expired':
    case 'canceled':
      return { status: 'FAILURE', progress: 0, finishTime: stage.endedAt, failReason: 'The task has ended' };
  }
}

function timesOf({ startedAt, endedAt }: { startedAt: number; endedAt: number }) {
  return { startTime: startedAt, finishTime: endedAt };
}
