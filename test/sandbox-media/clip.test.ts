import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input, type InputVideoTrack } from 'mediabunny';
import { describe, expect, test } from 'vitest';
import type { ClipPlan } from '../../server/sandbox/media/clip/clip-plan.ts';
import { captionArea, counterPosition, referenceTiles } from '../../server/sandbox/media/clip/layout.ts';
import { ClipPainter } from '../../server/sandbox/media/clip/painter.ts';
import { renderClip, renderLastFrame } from '../../server/sandbox/media/clip/render-clip.ts';
import { toRgb } from '../../server/sandbox/media/drawing/colors.ts';
import { YuvFrame } from '../../server/sandbox/media/drawing/yuv-frame.ts';
import { encodePng } from '../../server/sandbox/media/images/encode.ts';
import { applyDelta } from './delta-frames.ts';
import { plainClip, png } from './media-files.ts';

const red = [220, 30, 30] as const;
const green = [20, 160, 60] as const;
const blue = [30, 60, 210] as const;

async function inspect<Result>(file: Uint8Array, look: (input: Input) => Promise<Result>): Promise<Result> {
  using input = new Input({ formats: ALL_FORMATS, source: new BufferSource(file) });
  return await look(input);
}

async function videoOf(input: Input): Promise<InputVideoTrack> {
  const track = await input.getPrimaryVideoTrack();
  if (!track) throw new Error('There is no video track');
  return track;
}

/** All frames as one text. */
async function packetsOf(input: Input): Promise<string> {
  let text = '';
  for await (const { data } of new EncodedPacketSink(await videoOf(input)).packets())
    text += Buffer.from(data).toString('base64');
  return text;
}

/** Returns the color of one pixel of a painted frame. */
function colorAt({ y, u, v, stride }: YuvFrame, x: number, row: number): readonly number[] {
  const chroma = (row >> 1) * (stride >> 1) + (x >> 1);
  return toRgb(y[row * stride + x] ?? 0, u[chroma] ?? 0, v[chroma] ?? 0);
}

function expectColor(actual: readonly number[], wanted: readonly number[], tolerance = 6): void {
  for (const [index, value] of wanted.entries())
    expect(
      Math.abs((actual[index] ?? 0) - value),
      `${actual.join()} is not ${wanted.join()}`,
    ).toBeLessThanOrEqual(tolerance);
}

describe('file', () => {
  test.each([
    ['mp4', 1280, 720, 30, 60, true],
    ['mp4', 480, 854, 24, 97, false],
    ['mov', 720, 720, 24, 48, true],
    ['mp4', 1920, 1080, 30, 61, false],
    ['mp4', 1120, 480, 24, 24, true],
  ] as const)(
    '%s %ix%i at %i frames per second, %i frames, audio %s',
    async (container, width, height, frameRate, frames, audio) => {
      const file = await renderClip({ ...plainClip, container, width, height, frameRate, frames, audio });
      await inspect(file, async (input) => {
        const track = await videoOf(input);
        expect((await input.getFormat()).name).toBe(container === 'mp4' ? 'MP4' : 'QuickTime File Format');
        expect([await track.getDisplayWidth(), await track.getDisplayHeight()]).toEqual([width, height]);
        const { packetCount, averagePacketRate } = await track.computePacketStats();
        expect(packetCount).toBe(frames);
        expect(averagePacketRate).toBeCloseTo(frameRate, 3);
        expect(await track.getCodec()).toBe('avc');
        expect(await track.computeDuration()).toBeCloseTo(frames / frameRate, 3);
        const sound = await input.getPrimaryAudioTrack();
        expect(await sound?.getCodec()).toBe(audio ? 'aac' : undefined);
        // The duration of the whole file must equal that of its video track, with a tolerance of one frame.
        expect(Math.abs((await input.computeDuration()) - frames / frameRate)).toBeLessThanOrEqual(
          1 / frameRate,
        );
        if (sound) expect(await sound.computeDuration()).toBeGreaterThan(frames / frameRate - 0.1);
      });
    },
  );

  test('starts with a key frame and has one every second', async () => {
    const file = await renderClip({ ...plainClip, frames: 60 });
    const keys = await inspect(file, async (input) => {
      const times: number[] = [];
      for await (const packet of new EncodedPacketSink(await videoOf(input)).packets())
        if (packet.type === 'key') times.push(packet.timestamp);
      return times;
    });
    expect(keys).toEqual([0, 1, 2]);
  });

  test('is deterministic, and depends on seed and caption', async () => {
    const plan = { ...plainClip, width: 320, height: 240, frames: 12 };
    const [first, again, seed, caption] = await Promise.all(
      [plan, plan, { ...plan, seed: 2 }, { ...plan, caption: 'Else' }].map(async (one) =>
        inspect(await renderClip(one), packetsOf),
      ),
    );
    expect(again).toBe(first);
    expect(seed).not.toBe(first);
    expect(caption).not.toBe(first);
  });
});

describe('frames', () => {
  test('equal the painted ones, because delta frames contain all changes', async () => {
    const plan: ClipPlan = {
      ...plainClip,
      frames: 40,
      firstFrame: png(64, 36, red),
      lastFrame: png(64, 36, blue),
    };
    const painter = await ClipPainter.create(plan);
    const file = await renderClip(plan);
    await inspect(file, async (input) => {
      const shown = new YuvFrame(plan.width, plan.height);
      let index = 0;
      for await (const { data, type } of new EncodedPacketSink(await videoOf(input)).packets()) {
        painter.paint(index);
        if (type === 'key') {
          // Key frames are encoded with loss, so only the following frames can be compared exactly.
          for (const plane of ['y', 'u', 'v'] as const) shown[plane].set(painter.canvas[plane]);
        } else {
          expect(applyDelta(shown, data), `frame ${index}`).toBeGreaterThan(0);
          for (const plane of ['y', 'u', 'v'] as const)
            expect(Buffer.compare(shown[plane], painter.canvas[plane]), `frame ${index}, ${plane}`).toBe(0);
        }
        index++;
      }
      expect(index).toBe(plan.frames);
    });
  });

  test('show the references at their positions', async () => {
    const colors = [red, green, blue];
    const references = colors.map((color, index) => ({
      label: `IMAGE ${index}`,
      image: png(300, 300, color),
    }));
    const { canvas } = await ClipPainter.create({ ...plainClip, references });
    for (const [index, { x, y, width, height }] of referenceTiles(plainClip, 3).entries())
      expectColor(colorAt(canvas, x + width / 2, Math.round(y + height / 3)), colors[index] ?? []);
  });

  test('start with the first frame and end with the last frame', async () => {
    const plan = { ...plainClip, firstFrame: png(64, 36, red), lastFrame: png(64, 36, blue) };
    const painter = await ClipPainter.create(plan);
    const corners = [
      [20, 250],
      [830, 250],
    ] as const;
    painter.paint(0);
    for (const [x, y] of corners) expectColor(colorAt(painter.canvas, x, y), red);
    for (let index = 1; index < 30; index++) painter.paint(index);
    expectColor(colorAt(painter.canvas, 20, 250), blue);
    expectColor(colorAt(painter.canvas, 830, 250), red);
    for (let index = 30; index < plan.frames; index++) painter.paint(index);
    for (const [x, y] of corners) expectColor(colorAt(painter.canvas, x, y), blue);
  });

  test('show their number', async () => {
    const painter = await ClipPainter.create(plainClip);
    const position = counterPosition(plainClip);
    const counter = () =>
      Array.from(
        { length: 120 },
        (_, x) => colorAt(painter.canvas, position.x + x, position.y + 8)[0],
      ).join();
    const counters = new Set<string>();
    for (let index = 0; index < 10; index++) {
      painter.paint(index);
      counters.add(counter());
    }
    expect(counters.size).toBeGreaterThan(5);
  });

  test('show the caption, and the watermark if requested', async () => {
    const whitePixels = async (change: Partial<ClipPlan>, inCaption: boolean) => {
      const { canvas } = await ClipPainter.create({ ...plainClip, ...change });
      const { y: top } = captionArea(plainClip);
      let count = 0;
      for (let y = inCaption ? top : 0; y < (inCaption ? canvas.height : 60); y++)
        for (let x = inCaption ? 0 : canvas.width / 2; x < canvas.width; x++)
          if ((canvas.y[y * canvas.stride + x] ?? 0) > 190) count++;
      return count;
    };
    expect(await whitePixels({ caption: '' }, true)).toBe(0);
    const short = await whitePixels({ caption: 'Hello' }, true);
    expect(short).toBeGreaterThan(100);
    expect(await whitePixels({ caption: 'Hello, 纸船 in the café' }, true)).toBeGreaterThan(short * 2);
    expect(await whitePixels({ watermark: false }, false)).toBe(0);
    expect(await whitePixels({ watermark: true }, false)).toBeGreaterThan(300);
  });
});

test('the last frame shows the end of the clip', async () => {
  const plan = { ...plainClip, frames: 30, lastFrame: png(64, 36, green) };
  const painter = await ClipPainter.create(plan);
  for (let index = 0; index < plan.frames; index++) painter.paint(index);
  const wanted = encodePng({ ...plan, data: painter.canvas.toRgba() });
  expect(Buffer.compare(await renderLastFrame(plan), wanted)).toBe(0);
});
