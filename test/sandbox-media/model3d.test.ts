import { type Document, NodeIO } from '@gltf-transform/core';
import { imageSize } from 'image-size';
import { describe, expect, test } from 'vitest';
import type { ModelPlan } from '../../server/sandbox/media/jobs.ts';
import { renderModel } from '../../server/sandbox/media/model3d/render-model.ts';
import { dataUrl, imageFiles, png } from './media-files.ts';
import { expectSchema, taskDurationMs, useFileHost, useTaskUpstream } from './task-client.ts';

const client = useTaskUpstream();
const host = useFileHost();
const path = '/api/v1/services/aigc/video-generation/3d-generation';

interface Task {
  request_id: string;
  output: {
    task_id: string;
    task_status: string;
    orig_prompt?: string;
    code?: string;
    results?: { pbr_model_url?: string; base_model_url?: string; rendered_image_url: string };
  };
}

const plan: ModelPlan = { prompt: 'A red ball', views: [], textureSize: 512, pbr: true, fine: false };

async function submit(input: object, parameters?: object): Promise<string> {
  const request = { model: 'theta-3d', input, parameters };
  const { status, body } = await client.send<Task>('POST', path, request, { 'X-Native-Async': 'enable' });
  expect(status, JSON.stringify(body)).toBe(200);
  expectSchema('NativeTaskSubmittedReply', body);
  return body.output.task_id;
}

async function finish(id: string): Promise<Task['output']> {
  client.advance(taskDurationMs);
  const task = await client.until<Task>(
    `/api/v1/tasks/${id}`,
    ({ output }) => output.task_status !== 'RUNNING',
  );
  expectSchema('NativeTask', task);
  return task.output;
}

async function parse(glb: Uint8Array): Promise<Document> {
  return await new NodeIO().readBinary(glb);
}

/** Properties of a parsed model with one mesh. */
function look(document: Document) {
  const [mesh] = document.getRoot().listMeshes();
  const [primitive] = mesh?.listPrimitives() ?? [];
  const material = primitive?.getMaterial();
  const texture = material?.getBaseColorTexture();
  return {
    positions: primitive?.getAttribute('POSITION')?.getArray() ?? new Float32Array(),
    normals: primitive?.getAttribute('NORMAL')?.getArray() ?? new Float32Array(),
    indices: primitive?.getIndices()?.getArray() ?? new Uint32Array(),
    image: texture?.getImage() ?? undefined,
    rough: material?.getMetallicRoughnessTexture() ?? undefined,
    factor: material?.getBaseColorFactor(),
  };
}

describe('model', () => {
  test('is a closed mesh with outward normals and a texture', async () => {
    const { positions, normals, indices, image } = look(await parse(await renderModel(plan)));
    expect(indices.length % 3).toBe(0);
    expect(indices.length / 3).toBeLessThanOrEqual(20_000);
    expect(Math.max(...indices)).toBeLessThan(positions.length / 3);
    for (let at = 0; at < positions.length; at += 3) {
      const dot = [0, 1, 2].reduce(
        (sum, axis) => sum + (positions[at + axis] ?? 0) * (normals[at + axis] ?? 0),
        0,
      );
      expect(dot).toBeGreaterThan(0.9);
    }
    expect(imageSize(image ?? new Uint8Array())).toMatchObject({ type: 'png', width: 512, height: 512 });
  });

  test('has a finer mesh and a larger texture if requested', async () => {
    const usual = look(await parse(await renderModel(plan)));
    const fine = look(await parse(await renderModel({ ...plan, fine: true, textureSize: 1024 })));
    expect(fine.indices.length).toBeGreaterThan(usual.indices.length * 4);
    expect(imageSize(fine.image ?? new Uint8Array()).width).toBe(1024);
  });

  test.each([
    'A blue crate',
    'a golden ring',
    'a green gem',
    'a white tower',
    'a rocking horse',
    'another horse',
  ])('of "%s" has a different shape or color', async (prompt) => {
    const [ball, other] = [
      look(await parse(await renderModel(plan))),
      look(await parse(await renderModel({ ...plan, prompt }))),
    ];
    expect(Buffer.from(other.positions.buffer).equals(Buffer.from(ball.positions.buffer))).toBe(false);
    expect(Buffer.from(other.image ?? []).equals(Buffer.from(ball.image ?? []))).toBe(false);
    for (let at = 0; at < other.normals.length; at += 3)
      expect(Math.hypot(...other.normals.subarray(at, at + 3))).toBeCloseTo(1, 3);
  });

  test('can have no texture and no physically based materials', async () => {
    const bare = look(await parse(await renderModel({ ...plan, textureSize: undefined, pbr: false })));
    expect(bare.image).toBeUndefined();
    expect(bare.factor?.[0]).toBeGreaterThan(bare.factor?.[2] ?? 1);
    expect(look(await parse(await renderModel({ ...plan, pbr: false }))).rough).toBeUndefined();
    expect(look(await parse(await renderModel(plan))).rough).toBeDefined();
  });
});

describe('task', () => {
  test('from a prompt renders a model and a preview', async () => {
    const output = await finish(await submit({ prompt: 'A red ball' }, { texture_quality: 'detailed' }));
    expect(output).toMatchObject({ task_status: 'SUCCEEDED', orig_prompt: 'A red ball' });
    const model = await client.download(output.results?.pbr_model_url ?? '');
    expect(model.type).toBe('model/gltf-binary');
    expect(imageSize(look(await parse(model.bytes)).image ?? new Uint8Array()).width).toBe(1024);
    const preview = await client.download(output.results?.rendered_image_url ?? '');
    expect(preview.type).toBe('image/webp');
    expect(imageSize(preview.bytes)).toMatchObject({ type: 'webp', width: 512, height: 512 });
  });

  test('from one image and from four views', async () => {
    const image = host.put('front.jpg', imageFiles.jpeg(20, 40));
    const one = await finish(await submit({ image }));
    expect(one.task_status).toBe('SUCCEEDED');
    expect(one.orig_prompt).toBeUndefined();
    const view = (name: string, color: readonly [number, number, number]) => ({
      type: 'png',
      file_token: host.put(name, png(100, 100, color)),
    });
    const images = [view('f.png', [200, 0, 0]), {}, view('b.png', [0, 200, 0]), {}];
    const four = await finish(await submit({ images }, { pbr: false, geometry_quality: 'ultra' }));
    expect(four.results?.pbr_model_url).toBeUndefined();
    const { bytes } = await client.download(four.results?.base_model_url ?? '');
    expect(look(await parse(bytes)).image).toBeDefined();
  });

  test('has files that expire after two hours', async () => {
    const { results } = await finish(await submit({ prompt: 'A ring' }));
    const status = async () => (await fetch(results?.pbr_model_url ?? '', { method: 'HEAD' })).status;
    client.advance(2 * 60 * 60 * 1000 - 1);
    expect(await status()).toBe(200);
    client.advance(1);
    expect(await status()).toBe(403);
  });

  test.each([
    ['of another format', () => dataUrl('image/webp', imageFiles.webp(100, 100)), 'InvalidParameter.Format'],
    ['that is too small', () => dataUrl('image/png', png(19, 100)), 'InvalidParameter.SideLength'],
    ['that does not exist', () => host.address('none.png'), 'InvalidURL'],
  ])('from an image %s fails', async (_case, image, code) => {
    expect(await finish(await submit({ image: image() }))).toMatchObject({ task_status: 'FAILED', code });
  });
});

describe('a bad request', () => {
  const view = { type: 'png', file_token: 'https://files.example/a.png' };
  const image = 'https://files.example/a.png';
  test.each<[string, object, string]>([
    ['no model', { input: { prompt: 'Hi' } }, 'BadRequest.EmptyModel'],
    ['a model of another route', { model: 'gamma3.0-video', input: { prompt: 'Hi' } }, 'InvalidParameter'],
    ['no input', { model: 'theta-3d' }, 'BadRequest.EmptyInput'],
    ['an empty input', { model: 'theta-3d', input: {} }, 'InvalidParameter'],
    ['prompt and image', { model: 'theta-3d', input: { prompt: 'Hi', image } }, 'InvalidParameter'],
    [
      'image and views',
      { model: 'theta-3d', input: { image, images: [view, {}, {}, {}] } },
      'InvalidParameter',
    ],
    ['a long prompt', { model: 'theta-3d', input: { prompt: 'x'.repeat(1025) } }, 'InvalidParameter'],
    ['three views', { model: 'theta-3d', input: { images: [view, {}, {}] } }, 'InvalidParameter'],
    ['no front view', { model: 'theta-3d', input: { images: [{}, view, view, view] } }, 'InvalidParameter'],
    [
      'a view of no type',
      { model: 'theta-3d', input: { images: [{ file_token: image }, {}, {}, {}] } },
      'InvalidParameter',
    ],
    [
      'an unknown quality',
      { model: 'theta-3d', input: { prompt: 'Hi' }, parameters: { texture_quality: 'best' } },
      'InvalidParameter',
    ],
    [
      'materials without texture',
      { model: 'theta-3d', input: { prompt: 'Hi' }, parameters: { texture: false } },
      'InvalidParameter',
    ],
  ])('%s is rejected', async (_case, request, code) => {
    const { status, body } = await client.send<{ code: string }>('POST', path, request, {
      'X-Native-Async': 'enable',
    });
    expectSchema('NativeError', body);
    expect([status, body.code]).toEqual([400, code]);
  });
});
