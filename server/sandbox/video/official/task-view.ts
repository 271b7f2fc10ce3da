import { frameRate, type OfficialTask } from './official-work.ts';

const statuses = {
  queued: 'queued',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  expired: 'expired',
  canceled: 'cancelled',
} as const;

export function formatStatus(task: OfficialTask): string {
  return statuses[task.stage().name];
}

/** Formats a task for a poll or a list. Values that the model chooses are included when the task has succeeded. */
export function formatTask(task: OfficialTask): object {
  const { request } = task;
  const stage = task.stage();
  const done = stage.name === 'succeeded' ? stage.output : undefined;
  return {
    id: task.id,
    model: request.model,
    status: statuses[stage.name],
    error: stage.name === 'failed' ? stage.failure : null,
    ...(done && {
      content: {
        video_url: done.video,
        ...(done.lastFrame !== undefined && { last_frame_url: done.lastFrame }),
      },
      usage: {
        completion_tokens: done.tokens,
        total_tokens: done.tokens,
        ...(request.tools.length > 0 && { tool_usage: { web_search: 1 } }),
      },
    }),
    created_at: toSeconds(task.createdAt),
    updated_at: toSeconds(updatedAt(stage) ?? task.createdAt),
    seed: request.seed,
    resolution: request.resolution,
    ratio: done?.ratio ?? request.ratio,
    ...(request.frames === undefined
      ? { duration: done?.duration ?? request.duration }
      : { frames: request.frames }),
    framespersecond: frameRate,
    service_tier: request.serviceTier,
    execution_expires_after: request.executionExpiresAfter,
    generate_audio: request.generateAudio,
    draft: request.draft,
    draft_task_id: request.draftTaskId,
    priority: request.priority,
    tools: request.tools.length > 0 ? request.tools : undefined,
    safety_identifier: request.safetyIdentifier,
    output_format: request.bounds.modern ? request.outputFormat : undefined,
  };
}

function updatedAt(stage: ReturnType<OfficialTask['stage']>): number | undefined {
  if ('endedAt' in stage) return stage.endedAt;
  return 'startedAt' in stage ? stage.startedAt : undefined;
}

function toSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
