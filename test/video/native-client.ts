import { expect, vi } from 'vitest';
import { schemaProblems } from '../conformance/contract/schemas.ts';
import { post } from '../server/ledger.ts';
import type { TestGateway } from '../support/gateway.ts';
import { recordResponse } from '../support/recorded-errors.ts';

export const videoPath = '/api/v1/services/aigc/video-generation/video-synthesis';
export const model3dPath = '/api/v1/services/aigc/video-generation/3d-generation';

export interface NativeTask {
  request_id: string;
  output: {
    task_id: string;
    task_status: string;
    submit_time?: string;
    scheduled_time?: string;
    end_time?: string;
    orig_prompt?: string;
    video_url?: string;
    results?: { pbr_model_url?: string; base_model_url?: string; rendered_image_url?: string };
    code?: string;
    message?: string;
  };
  usage?: Record<string, unknown>;
}

/** Creates a native task, expects that it is accepted, and returns its public id. */
export async function submit(target: TestGateway, path: string, body: object): Promise<string> {
  const response = await post(target.url, target.key, path, body);
  const task = (await response.json()) as NativeTask;
  expect(response.status, JSON.stringify(task)).toBe(200);
  expectSchema('NativeTaskSubmittedReply', task);
  return task.output.task_id;
}

export async function poll(target: TestGateway, id: string, key = target.key): Promise<NativeTask> {
  const headers = { authorization: `Bearer ${key}` };
  const path = `/api/v1/tasks/${id}`;
  const response = await recordResponse({ method: 'get', path }, await fetch(target.url + path, { headers }));
  const task = (await response.json()) as NativeTask;
  expect(response.status, JSON.stringify(task)).toBe(200);
  expectSchema('NativeTask', task);
  return task;
}

/** Polls a task until its state is final. */
export async function waitForFinal(target: TestGateway, id: string): Promise<NativeTask> {
  return await vi.waitFor(
    async () => {
      const task = await poll(target, id);
      if (['PENDING', 'RUNNING'].includes(task.output.task_status)) throw new Error('the task is not final');
      return task;
    },
    { timeout: 15_000, interval: 50 },
  );
}

export async function cancel(target: TestGateway, id: string, key = target.key): Promise<Response> {
  return await post(target.url, key, `/api/v1/tasks/${id}/cancel`, '');
}

export function expectSchema(name: string, value: unknown): void {
  expect(schemaProblems({ pointer: `#/components/schemas/${name}`, schema: {} }, value), name).toEqual([]);
}
