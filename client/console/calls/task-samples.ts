import type { OperationId } from '../../index.ts';
import { gatewayUrl } from '../session/session.ts';
import { type Samples, samplesOf } from './samples.ts';

/** How a client polls the tasks of an operation. */
interface TaskPolls {
  /** Path of a task, without its id. */
  path: string;
  /** Rest of the path, after the id. */
  end?: string;
  /** Field of the response that contains the id. */
  idField: string;
  /** Python expressions of the id in `created` and of the status in `task`. */
  id: string;
  status: string;
  statusField?: string;
  /** Final statuses. */
  ended: readonly string[];
}

const sigmaStates = ['SUCCESS', 'FAILURE'];
const nativePolls: TaskPolls = {
  path: '/api/v1/tasks/',
  idField: 'task_id',
  id: 'created["output"]["task_id"]',
  status: 'task["output"]["task_status"]',
  statusField: 'task_status',
  ended: ['SUCCEEDED', 'FAILED', 'CANCELED', 'UNKNOWN'],
};

const polls: Partial<Record<OperationId, TaskPolls>> = {
  createVideo: {
    path: '/v1/videos/',
    idField: 'id',
    id: 'created["id"]',
    status: 'task["status"]',
    ended: ['completed', 'failed'],
  },
  createGenericVideo: {
    path: '/v1/video/generations/',
    idField: 'task_id',
    id: 'created["task_id"]',
    status: '(task.get("data") or task)["status"]',
    ended: ['completed', 'failed', ...sigmaStates],
  },
  createOfficialVideo: {
    path: '/api/v3/contents/generations/tasks/',
    idField: 'id',
    id: 'created["id"]',
    status: 'task["status"]',
    ended: ['succeeded', 'failed', 'expired', 'cancelled'],
  },
  createNativeVideo: nativePolls,
  createModel3d: nativePolls,
  submitMusic: {
    path: '/sigma/fetch/',
    idField: 'data',
    id: 'created["data"]',
    status: 'task["data"]["status"]',
    ended: sigmaStates,
  },
  submitImagine: {
    path: '/imgjob/task/',
    end: '/fetch',
    idField: 'result',
    id: 'created["result"]',
    status: 'task["status"]',
    ended: sigmaStates,
  },
};

/** Returns the calls that create a task and poll it until it has ended. `extra` adds or replaces languages. */
export function taskSamples(operation: OperationId, body: object, extra: Samples): Samples {
  const { curl = '', Python = '', ...others } = samplesOf(operation, body, { extra });
  const poll = polls[operation];
  if (poll === undefined) return { curl, Python, ...others };
  const { TypeScript = '', ...more } = others;
  return { curl: curlTask(curl, poll), TypeScript, Python: pythonTask(Python, poll), ...more };
}

/** The gateway returns JSON without white space, so the shell can read a field without a parser. */
function curlTask(create: string, { path, end = '', idField, statusField = 'status', ended }: TaskPolls) {
  return `id=$(${create.replace('curl', 'curl -s')} \\
  | sed 's/.*"${idField}":"\\([^"]*\\)".*/\\1/')
until curl -s ${gatewayUrl}${path}$id${end} \\
  -H "Authorization: Bearer $UNIGATE_API_KEY" \\
  | grep -E '"${statusField}":"(${ended.join('|')})"'; do sleep 2; done`;
}

function pythonTask(create: string, { path, end = '', id, status, ended }: TaskPolls): string {
  const states = ended.map((state) => `"${state}"`).join(', ');
  return `${create.replace('import os\n', 'import os\nimport time\n')}
created = response.json()
while True:
    response = requests.get(f"${gatewayUrl}${path}{${id.replaceAll('"', "'")}}${end}", headers=headers)
    response.raise_for_status()
    task = response.json()
    if ${status} in (${states}):
        break
    time.sleep(2)
print(task)`;
}
