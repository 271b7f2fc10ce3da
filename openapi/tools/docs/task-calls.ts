import type { ModelEntry } from '../catalogue.ts';
import {
  type Body,
  type CallSample,
  curl,
  get,
  idFrom,
  object,
  openai,
  post,
  python,
  pythonGet,
  typescript,
} from './call-text.ts';

/** The calls that create a task, wait for it and read its result. */
export const taskCalls = {
  video: videoCalls,
  model3d: model3dCalls,
  music: musicCalls,
  lyrics: lyricsCalls,
  images: imageCalls,
};

function videoCalls({ id }: ModelEntry): CallSample[] {
  const path = '/v1/videos';
  const body = { model: id, prompt: 'A paper boat sails down a rainy street.', seconds: '4', size: '480p' };
  return [
    curl(`${idFrom(post(path, body), 'id')}
${waitUntil(`${path}/$id`, '"status":"(completed|failed)"')}
${get(`${path}/$id/content`)} -o video.mp4`),
    typescript(`const { videos } = new Unigate();
const video = await videos.createAndWait(${object(body)});
await videos.downloadTo(video.id, 'video.mp4');`),
    python(
      path,
      body,
      `video = response.json()
while video["status"] in ("queued", "in_progress"):
    time.sleep(2)
    video = ${pythonGet(`${path}/{video['id']}`)}.json()
with open("video.mp4", "wb") as file:
    file.write(${pythonGet(`${path}/{video['id']}/content`)}.content)`,
    ),
    openai(
      `const body = ${object(body)};
const headers = { 'Idempotency-Key': randomUUID() };
const created = await openai.post<{ id: string }>('/videos', { body, headers });
let video = await openai.videos.retrieve(created.id);
while (video.status === 'queued' || video.status === 'in_progress') {
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  video = await openai.videos.retrieve(created.id);
}
const file = await openai.videos.downloadContent(created.id);
await writeFile('video.mp4', Buffer.from(await file.arrayBuffer()));`,
      `import { randomUUID } from 'node:crypto';\nimport { writeFile } from 'node:fs/promises';\n`,
    ),
  ];
}

function model3dCalls({ id }: ModelEntry): CallSample[] {
  const path = '/api/v1/services/aigc/video-generation/3d-generation';
  const body = { model: id, input: { prompt: 'A wooden rocking horse.' } };
  return [
    curl(`${idFrom(post(path, body), 'task_id')}
${waitUntil('/api/v1/tasks/$id', '"task_status":"(SUCCEEDED|FAILED)"')}`),
    typescript(`const { models3d } = new Unigate();
const task = await models3d.createAndWait(${object(body)});
await models3d.downloadTo(task.output.task_id, 'object.glb');`),
    python(
      path,
      body,
      `output = response.json()["output"]
while output["task_status"] in ("PENDING", "RUNNING"):
    time.sleep(2)
    output = ${pythonGet(`/api/v1/tasks/{output['task_id']}`)}.json()["output"]
print(output)`,
    ),
  ];
}

function musicCalls(): CallSample[] {
  const body = { mv: 'chirp-hawk', gpt_description_prompt: 'A slow song about the sea', tags: 'folk' };
  const client = `const { music } = new Unigate();
const songs = await music.createAndWait(${object(body)});
if (songs[0]) await music.downloadTo(songs[0].id, 'song.mp3');`;
  return sigmaCalls('/sigma/submit/music', body, client, '[song["audio_url"] for song in task["data"]]');
}

function lyricsCalls(): CallSample[] {
  const body = { prompt: 'A slow song about the sea' };
  const client = `const { data } = await new Unigate().lyrics.createAndWait(${object(body)});
console.log(data.text);`;
  return sigmaCalls('/sigma/submit/lyrics', body, client, 'task["data"]["text"]');
}

function sigmaCalls(path: string, body: Body, client: string, result: string): CallSample[] {
  return [
    curl(`${idFrom(post(path, body), 'data')}
${waitUntil('/sigma/fetch/$id', '"status":"(SUCCESS|FAILURE)"')}`),
    typescript(client),
    python(
      path,
      body,
      `task_id = response.json()["data"]
task = {"status": "SUBMITTED"}
while task["status"] not in ("SUCCESS", "FAILURE"):
    time.sleep(2)
    task = ${pythonGet('/sigma/fetch/{task_id}')}.json()["data"]
print(${result})`,
    ),
  ];
}

function imageCalls(): CallSample[] {
  const body = { prompt: 'a harbor at dusk' };
  return [
    curl(`${idFrom(post('/imgjob/submit/imagine', body), 'result')}
${waitUntil('/imgjob/task/$id/fetch', '"status":"(SUCCESS|FAILURE)"')}`),
    typescript(`const { imageJobs } = new Unigate();
const grid = await imageJobs.createAndWait(${object(body)});
await imageJobs.downloadTo(grid.id, 'grid.png');`),
    python(
      '/imgjob/submit/imagine',
      body,
      `job_id = response.json()["result"]
job = {"status": "SUBMITTED"}
while job["status"] not in ("SUCCESS", "FAILURE"):
    time.sleep(2)
    job = ${pythonGet('/imgjob/task/{job_id}/fetch')}.json()
print(job["imageUrl"])`,
    ),
  ];
}

const waitUntil = (path: string, pattern: string) => `until ${get(path)} \\
  | grep -E '${pattern}'; do sleep 2; done`;
