import { encodePng } from '../images/encode.ts';
import type { ClipPlan } from './clip-plan.ts';
import { encodeDeltaFrame } from './delta-frame.ts';
import { KeyFrameEncoder } from './key-frames.ts';
import { audioRate, synthesizeMelody } from './melody.ts';
import { ClipPainter } from './painter.ts';
import { type VideoTrack, writeVideoFile } from './video-file.ts';

/** One key frame per second, so that a player can seek to every second. */
const keyFrameSeconds = 1;
/** Maximum fraction of changed macroblocks. With more, a key frame is smaller. */
const maxChangedShare = 0.2;
/**
 * Samples of padding that the audio codec adds. Subtracting them prevents the audio track from being longer than the
 * video.
 */
const codecPadding = 2048;

/** Renders the video file of a clip. */
export async function renderClip(plan: ClipPlan): Promise<Uint8Array<ArrayBuffer>> {
  const seconds = plan.frames / plan.frameRate;
  const samples = plan.audio ? synthesizeMelody(seconds - codecPadding / audioRate, plan.seed) : undefined;
  return await writeVideoFile(plan.container, await encodeFrames(plan), samples);
}

async function encodeFrames(plan: ClipPlan): Promise<VideoTrack> {
  const painter = await ClipPainter.create(plan);
  const { canvas } = painter;
  const maxChanged = canvas.columns * canvas.rows * maxChangedShare;
  const encoder = await KeyFrameEncoder.create(plan);
  try {
    const deltas: (Uint8Array | undefined)[] = [];
    let sinceKey = 0;
    for (let index = 0; index < plan.frames; index++) {
      const changed = painter.paint(index);
      if (index % (plan.frameRate * keyFrameSeconds) === 0 || changed.length > maxChanged) {
        encoder.add(canvas);
        sinceKey = 0;
        deltas.push(undefined);
      } else {
        deltas.push(encodeDeltaFrame(canvas, changed, ++sinceKey));
      }
    }
    const { config, packets } = await encoder.finish();
    const keys = packets.values();
    const frames = deltas.map((delta) =>
      delta
        ? { data: delta, type: 'delta' as const }
        : { data: keys.next().value ?? new Uint8Array(), type: 'key' as const },
    );
    return { config, frames, frameRate: plan.frameRate };
  } finally {
    encoder.release();
  }
}

/** Renders the last frame of the clip, identical to the encoded one. */
export async function renderLastFrame(plan: ClipPlan): Promise<Uint8Array<ArrayBuffer>> {
  const painter = await ClipPainter.create(plan);
  painter.paint(plan.frames - 1);
  return encodePng({ ...plan, data: painter.canvas.toRgba() });
}
