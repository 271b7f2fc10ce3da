import { useSignal } from '@preact/signals';
import { Clapperboard } from 'lucide';
import type { Model } from '../../index.ts';
import { CallPanel } from '../calls/call-panel.tsx';
import { useModelInAddress } from '../calls/models.ts';
import { RecentTasks } from '../calls/recent-tasks.tsx';
import { taskSample } from '../calls/samples.ts';
import { type OpenedTask, useTaskInAddress } from '../calls/task-address.ts';
import { TaskResult } from '../calls/task-result.tsx';
import { useTask } from '../calls/task-run.ts';
import { taskSamples } from '../calls/task-samples.ts';
import { Workbench } from '../calls/workbench.tsx';
import { useContract } from '../contract/contract.ts';
import type { JsonObject } from '../contract/form.ts';
import { EmptyState } from '../parts/notices.tsx';
import { useClient } from '../session/session.ts';
import { formOf } from './draft.ts';
import { formats, type VideoFormat, type VideoResult, videosFormat } from './formats.ts';
import { type Medium, mediaProblemOf } from './media.ts';
import { openAiSample } from './openai-sample.ts';
import { VideoForm } from './video-form.tsx';
import { VideoView } from './video-view.tsx';

const defaultModel = 'gamma3.0-video-prime';
const operations = formats.map(({ operation }) => operation);

/** Form, result, code and recent tasks. */
export function VideoWorkbench({ models }: { models: readonly Model[] }) {
  const client = useClient();
  const contract = useContract();
  const first = models.find(({ id }) => id === defaultModel) ?? models[0];
  const format = useSignal(videosFormat);
  const form = useSignal(formOf(contract, videosFormat, first?.id ?? ''));
  const media = useSignal<readonly Medium[]>([]);
  const mediaProblem = useSignal<string | undefined>(undefined);
  /** The format of the task that the result shows. */
  const shown = useSignal(videosFormat);
  const task = useTask<VideoResult>();
  const model = String(form.value.get('model'));
  const protocol = models.find(({ id }) => id === model)?.protocols[0] ?? '';
  const body = format.value.bodyOf(form.value.body.value, media.value, protocol);

  const change = (next: VideoFormat, id: string) => {
    const offered = models.filter(({ protocols }) => protocols.some((name) => next.protocols.includes(name)));
    const chosen = offered.find((other) => other.id === id) ?? offered[0];
    if (chosen === undefined) return;
    form.value = formOf(contract, next, chosen.id, { form: form.peek(), format: format.peek() });
    format.value = next;
  };
  useModelInAddress(models, ({ id }) => change(videosFormat, id));
  const create = async () => {
    if (!form.peek().checkAll()) return;
    mediaProblem.value = undefined;
    shown.value = format.peek();
    await task.submit(format.peek().calls(client), body);
    const state = task.state.peek();
    if (state.status !== 'failed') return;
    mediaProblem.value = mediaProblemOf(state.error);
    if (form.peek().reject(state.error) || mediaProblem.value !== undefined) task.reset();
  };
  const open = ({ id, operation, request_id: requestId }: OpenedTask) => {
    mediaProblem.value = undefined;
    const opened = formats.find((other) => other.operation === operation) ?? videosFormat;
    shown.value = opened;
    void task.follow(opened.calls(client), id, requestId);
  };
  useTaskInAddress(task.view.value?.id, open);

  const { cancel } = shown.value;
  const state = task.state.value;
  return (
    <div class="stack">
      <Workbench
        outcome={task.outcome}
        form={
          <VideoForm
            models={models}
            format={format.value}
            form={form.value}
            protocol={protocol}
            media={media}
            mediaProblem={mediaProblem.value}
            run={task}
            onChange={change}
            onSubmit={create}
          />
        }
      >
        {task.view.value === undefined ? (
          <EmptyState icon={Clapperboard} title="Your video appears here">
            <p>Press Create video, or open a recent task below.</p>
          </EmptyState>
        ) : (
          <TaskResult
            run={task}
            placeholder="video-placeholder"
            onCancel={cancel && ((id) => cancel(client, id))}
          >
            {(result) => <VideoView result={result} key={result.id} />}
          </TaskResult>
        )}
        <CallPanel samples={samplesFor(format.value, body)} />
      </Workbench>
      <RecentTasks
        operations={operations}
        shownId={task.view.value?.id}
        refreshKey={`${task.view.value?.id} ${state.status}`}
        onOpen={open}
      />
    </div>
  );
}

function samplesFor({ operation, method }: VideoFormat, body: JsonObject) {
  const extra = { TypeScript: taskSample(method, body), ...(method === 'videos' && openAiSample(body)) };
  return taskSamples(operation, body, extra);
}
