import { expect } from 'vitest';
import { decode, type Pixels } from './image-inspection.ts';
import { type TaskClient, taskDurationMs, useTaskUpstream } from './task-client.ts';

export interface Submitted {
  code: number;
  description: string;
  result: string;
  properties: Record<string, unknown>;
}

export interface ImageTask {
  id: string;
  action: string;
  status: string;
  progress: string;
  prompt: string;
  state: string | null;
  imageUrl: string | null;
  failReason: string | null;
  submitTime: number;
  startTime: number | null;
  finishTime: number | null;
  buttons: { customId: string; label: string; emoji: string }[];
  properties: { finalPrompt: string };
}

/** Side of a square image in a grid, in pixels. */
export const side = 64;

/** A client of the image jobs of an upstream with small images. */
export class ImageClient {
  readonly upstream: TaskClient;

  constructor(upstream: TaskClient) {
    this.upstream = upstream;
  }

  async submit(name: 'imagine' | 'action' | 'modal', body: object): Promise<Submitted> {
    const { status, body: reply } = await this.upstream.send<Submitted>(
      'POST',
      `/imgjob/submit/${name}`,
      body,
    );
    expect(status, JSON.stringify(reply)).toBe(200);
    expect(Object.keys(reply)).toEqual(['code', 'description', 'result', 'properties']);
    return reply;
  }

  imagine(prompt: string, more: object = {}): Promise<Submitted> {
    return this.submit('imagine', { prompt, ...more });
  }

  /** Presses the first button whose customId has this prefix. */
  press(task: ImageTask, name: string, more: object = {}): Promise<Submitted> {
    const button = task.buttons.find(({ customId }) => customId.startsWith(`IJ::${name}`));
    if (!button) throw new Error(`Button ${name} does not exist`);
    return this.submit('action', { taskId: task.id, customId: button.customId, ...more });
  }

  async fetchTask(id: string): Promise<ImageTask> {
    return (await this.upstream.send<ImageTask>('GET', `/imgjob/task/${id}/fetch`)).body;
  }

  /** Returns the finished task of an accepted submission. */
  async ended(submission: Submitted | Promise<Submitted>): Promise<ImageTask> {
    const { code, result, description } = await submission;
    expect(code, description).toBe(1);
    this.upstream.advance(taskDurationMs);
    const isEnded = ({ status }: ImageTask) => status === 'SUCCESS' || status === 'FAILURE';
    return await this.upstream.until<ImageTask>(`/imgjob/task/${result}/fetch`, isEnded);
  }

  async image({ imageUrl }: ImageTask): Promise<Pixels> {
    const { bytes, type } = await this.upstream.download(imageUrl ?? '');
    expect(type).toBe('image/png');
    return decode(bytes);
  }
}

export function useImageClient(): ImageClient {
  return new ImageClient(useTaskUpstream({ imageSide: side }));
}
