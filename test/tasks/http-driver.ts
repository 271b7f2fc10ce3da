import type { UpstreamRequest } from '../../server/channels/channel.ts';
import { ProviderFailure } from '../../server/lib/failure.ts';
import {
  driverErrorForStatus,
  type Snapshot,
  type TaskDriver,
  taskCanceled,
  type Upstream,
} from '../../server/tasks/driver.ts';

interface UpstreamState {
  state: 'queued' | 'in_progress' | 'completed' | 'failed' | 'canceled';
  progress?: number;
  seconds?: number;
}

/** Creates a driver for a `TaskUpstream`. */
export function httpDriver(node: string): TaskDriver {
  async function ask(
    { channel, signal }: Upstream,
    request: Pick<UpstreamRequest, 'method' | 'path' | 'body'>,
  ): Promise<unknown> {
    const { status, body } = await channel.request({ ...request, headers: { 'x-node': node }, signal });
    const answer: unknown = JSON.parse(String(await body.readAll(1024 * 1024)));
    if (status !== 200)
      throw driverErrorForStatus(status, new ProviderFailure(400, 'refused', 'The upstream refused.'));
    return answer;
  }
  return {
    async submit({ id: key, facts: { prompt } }, _request, upstream) {
      const answer = await ask(upstream, { method: 'POST', path: '/tasks', body: { key, prompt } });
      return { upstreamId: (answer as { id: string }).id };
    },
    async poll({ upstreamId }, upstream): Promise<Snapshot> {
      const answer = await ask(upstream, { method: 'GET', path: `/tasks/${upstreamId}` });
      const { state, progress, seconds = 0 } = answer as UpstreamState;
      if (state === 'completed') return { state, result: {}, usage: { units: seconds } };
      if (state === 'failed') return { state, error: { code: 'no', message: 'No.' } };
      if (state === 'canceled') return { state: 'failed', error: taskCanceled };
      return { state, progress };
    },
    async resume({ upstreamId }, _request, upstream) {
      await ask(upstream, { method: 'POST', path: `/tasks/${upstreamId}/input` });
      return { upstreamId, result: {} };
    },
    async cancel({ upstreamId }, upstream) {
      await ask(upstream, { method: 'POST', path: `/tasks/${upstreamId}/cancel` });
    },
  };
}
