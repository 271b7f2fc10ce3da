import { describe, expect, test } from 'vitest';
import { encodePng } from '../../server/sandbox/media/images/encode.ts';
import { type ImageTask, side, useImageClient } from './image-client.ts';
import { changedPixels, crop, difference, type Pixels, quadrant, shrink } from './image-inspection.ts';
import { dataUrl, imageFiles, png } from './media-files.ts';

const client = useImageClient();
const prompt = 'A red boat and a house at the sea --seed 7';

/** Removes the area of the caption, which is large in small images. */
function uncaptioned(image: Pixels): Pixels {
  return crop(image, { x: 0, y: 0, width: image.width, height: Math.floor(image.height * 0.6) });
}

async function upscaled(words = prompt): Promise<ImageTask> {
  const grid = await client.ended(client.imagine(words));
  return await client.ended(client.press(grid, 'JOB::upsample::1'));
}

/** Creates a mask that is white where `chosen` returns true, black elsewhere. */
function maskOf(width: number, height: number, chosen: (x: number, y: number) => boolean): string {
  const data = new Uint8Array(width * height * 4).fill(255);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) if (!chosen(x, y)) data.set([0, 0, 0], (y * width + x) * 4);
  return dataUrl('image/png', encodePng({ width, height, data }));
}

describe('a grid', () => {
  test('has four different images', async () => {
    const grid = await client.image(await client.ended(client.imagine(prompt)));
    expect([grid.width, grid.height]).toEqual([side * 2, side * 2]);
    const four = [0, 1, 2, 3].map((index) => quadrant(grid, index));
    for (const [index, first] of four.entries())
      for (const second of four.slice(index + 1)) expect(difference(first, second)).toBeGreaterThan(15);
  });

  test('depends on the prompt in color and shape', async () => {
    const mean = async (words: string) => {
      const one = shrink(uncaptioned(await client.image(await client.ended(client.imagine(words)))), 1);
      return Array.from(one.data.subarray(0, 3));
    };
    const [day, night] = [await mean('A boat at noon'), await mean('A boat at night')];
    expect(Math.max(...night)).toBeLessThan(Math.max(...day) * 0.8);
  });

  test('has the aspect ratio of --ar', async () => {
    const grid = await client.image(await client.ended(client.imagine(`${prompt} --ar 2:1`)));
    expect(grid.width / grid.height).toBeCloseTo(2, 0);
  });

  test('with reference images has their colors', async () => {
    const red = dataUrl('image/png', png(64, 64, [230, 20, 20]));
    const jpeg = dataUrl('image/jpeg', imageFiles.jpeg(64, 64));
    // With the same sky in all images, only the reference image can change it.
    const sky = 'A kite --seed 7';
    const plain = await client.image(await client.ended(client.imagine(sky)));
    const tinted = await client.image(await client.ended(client.imagine(sky, { base64Array: [red, jpeg] })));
    // The sky of the first image, which has no red by default.
    const measureRedness = (image: Pixels) => {
      const [r = 0, , b = 0] = shrink(crop(image, { x: 0, y: 0, width: 8, height: 8 }), 1).data;
      return r - b;
    };
    expect(measureRedness(plain)).toBeLessThan(50);
    expect(measureRedness(tinted)).toBeGreaterThan(measureRedness(plain) + 80);
  });

  test('differs after a reroll', async () => {
    const first = await client.ended(client.imagine(prompt));
    const again = await client.ended(client.press(first, 'JOB::reroll'));
    expect(again).toMatchObject({ action: 'REROLL', prompt });
    expect(difference(await client.image(first), await client.image(again))).toBeGreaterThan(5);
    expect(again.buttons).toHaveLength(9);
  });
});

describe('an upscaled image', () => {
  test.each([1, 2, 3, 4])('U%i is that quadrant in a higher resolution', async (number) => {
    const task = await client.ended(client.imagine(prompt));
    const grid = await client.image(task);
    const large = await client.image(await client.ended(client.press(task, `JOB::upsample::${number}`)));
    expect([large.width, large.height]).toEqual([side * 2, side * 2]);
    const small = uncaptioned(shrink(large, side));
    const distances = [0, 1, 2, 3].map((index) => difference(small, uncaptioned(quadrant(grid, index))));
    expect(distances.indexOf(Math.min(...distances))).toBe(number - 1);
    expect(distances[number - 1]).toBeLessThan(4);
    // A plain enlargement would have blocks of two by two equal pixels.
    const blocks = changedPixels(large, shift(large));
    expect(blocks.filter(Boolean).length).toBeGreaterThan(0);
  });

  test('can be upscaled once more', async () => {
    const first = await upscaled();
    const larger = await client.ended(client.press(first, 'JOB::upsample_v6_2x_subtle'));
    const image = await client.image(larger);
    expect(image.width).toBe(side * 4);
    const same = difference(uncaptioned(shrink(image, side * 2)), uncaptioned(await client.image(first)));
    expect(same).toBeLessThan(4);
    expect(larger.buttons.filter(({ customId }) => customId.includes('2x'))).toEqual([]);
  });

  test('has similar variations, and less similar strong variations', async () => {
    const source = await upscaled();
    const small = shrink(await client.image(source), side);
    const distance = async (name: string) => {
      const grid = await client.image(await client.ended(client.press(source, name)));
      const each = [0, 1, 2, 3].map((index) => difference(small, quadrant(grid, index)));
      expect(Math.min(...each)).toBeGreaterThan(0);
      return each.reduce((sum, value) => sum + value, 0) / 4;
    };
    const [low, high] = [await distance('JOB::low_variation'), await distance('JOB::high_variation')];
    expect(low).toBeLessThan(high);
    const other = await client.image(await client.ended(client.imagine('A green robot in the desert')));
    expect(high).toBeLessThan(difference(small, quadrant(other, 0)));
  });
});

test('a variation of a quadrant is similar to it', async () => {
  const task = await client.ended(client.imagine(prompt));
  const source = quadrant(await client.image(task), 2);
  const near = await client.image(await client.ended(client.press(task, 'JOB::variation::3')));
  for (const index of [0, 1, 2, 3]) {
    const distance = difference(source, quadrant(near, index));
    expect(distance).toBeGreaterThan(0);
    expect(distance).toBeLessThan(difference(source, quadrant(await client.image(task), 3)));
  }
});

describe('a wider view', () => {
  test.each([
    ['Outpaint::50', 2],
    ['Outpaint::75', 1.5],
  ])('by %s shows the old image in the center of a larger area', async (name, factor) => {
    const source = await upscaled();
    const [old, wide] = [
      await client.image(source),
      await client.image(await client.ended(client.press(source, name))),
    ];
    expect([wide.width, wide.height]).toEqual([old.width, old.height]);
    // Scaled to a size that divides both sides.
    const inner = Math.floor(old.width / factor / 2) * 2;
    const edge = (old.width - inner) / 2;
    const middle = crop(wide, { x: edge, y: edge, width: inner, height: inner });
    const sampled = sample(uncaptioned(old), uncaptioned(middle));
    expect(difference(sampled, uncaptioned(middle))).toBeLessThan(12);
    expect(difference(sample(old, wide), wide)).toBeGreaterThan(12);
  });

  test('of a custom zoom draws the new prompt around the old image', async () => {
    const source = await upscaled('A boat at noon');
    const { code, result } = await client.press(source, 'CustomZoom');
    expect(code).toBe(21);
    const modal = client.submit('modal', { taskId: result, prompt: 'A city at night --zoom 2' });
    const wide = await client.image(await client.ended(modal));
    const half = side;
    const middle = crop(wide, { x: half / 2, y: half / 2, width: half, height: half });
    const old = shrink(await client.image(source), half);
    expect(difference(uncaptioned(middle), uncaptioned(old))).toBeLessThan(12);
    // Compares the whole upper edge, because a corner can show a moon.
    const edge = shrink(crop(wide, { x: 0, y: 0, width: wide.width, height: 16 }), 1).data;
    expect(Math.max(...edge.subarray(0, 3))).toBeLessThan(180);
  });
});

test.each([
  ['left', 1, 0],
  ['right', -1, 0],
  ['up', 0, 1],
  ['down', 0, -1],
])('pan_%s shifts the scene by half and draws new ground', async (name, across, down) => {
  const source = await upscaled();
  const old = await client.image(source);
  const moved = await client.image(await client.ended(client.press(source, `JOB::pan_${name}`)));
  const { width, height } = old;
  const part = (x: number, y: number) => ({
    x: Math.max(0, (x * width) / 2),
    y: Math.max(0, (y * height) / 2),
    width: across ? width / 2 : width,
    // Excludes the captions.
    height: down ? height / 2 : Math.floor(height * 0.75),
  });
  const [stays, came] = [crop(old, part(-across, -down)), crop(moved, part(across, down))];
  const rows = Math.floor(stays.height * 0.6);
  const above = (image: Pixels) => crop(image, { x: 0, y: 0, width: image.width, height: rows });
  expect(difference(above(stays), above(came))).toBeLessThan(1);
  expect(difference(old, moved)).toBeGreaterThan(3);
});

describe('an inpainted region', () => {
  /** A diagonal edge reveals rows at the wrong position. */
  const chosen = (x: number, y: number) => x > 20 && y > 15 && x + y < 110;

  async function repaint(mask: string, words = 'A green robot in the desert'): Promise<[Pixels, Pixels]> {
    const source = await upscaled();
    const { result } = await client.press(source, 'Inpaint');
    const task = await client.ended(
      client.submit('modal', { taskId: result, prompt: words, maskBase64: mask }),
    );
    expect(task).toMatchObject({ action: 'INPAINT', prompt: words });
    return [await client.image(source), await client.image(task)];
  }

  function expectOnly(changed: boolean[], isChosen: (x: number, y: number) => boolean): void {
    const width = side * 2;
    const inside = changed.filter((_, at) => isChosen(at % width, Math.floor(at / width)));
    expect(changed.filter((is, at) => is && !isChosen(at % width, Math.floor(at / width)))).toEqual([]);
    expect(inside.filter(Boolean).length).toBeGreaterThan(inside.length * 0.9);
  }

  test('changes only the pixels selected by the mask', async () => {
    const [before, after] = await repaint(maskOf(side * 2, side * 2, chosen));
    expectOnly(changedPixels(before, after), chosen);
  });

  test('accepts a mask of another size', async () => {
    const [before, after] = await repaint(maskOf(side * 4, side * 4, (x, y) => x >= 100 && y < 100));
    expectOnly(changedPixels(before, after), (x, y) => x >= 50 && y < 50);
  });

  test('does not change transparent pixels of the mask', async () => {
    const size = side * 2;
    const data = new Uint8Array(size * size * 4);
    for (let y = 0; y < 40; y++) data.fill(255, y * size * 4, (y * size + 30) * 4);
    const mask = dataUrl('image/png', encodePng({ width: size, height: size, data }));
    const [before, after] = await repaint(mask);
    expectOnly(changedPixels(before, after), (x, y) => x < 30 && y < 40);
  });

  test('is preserved when the image is panned and inpainted again', async () => {
    const source = await upscaled();
    const first = await client.press(source, 'Inpaint');
    const mask = maskOf(side * 2, side * 2, (x) => x >= side);
    const painted = await client.ended(
      client.submit('modal', { taskId: first.result, prompt: 'A cat in the snow', maskBase64: mask }),
    );
    const before = await client.image(painted);
    const moved = await client.image(await client.ended(client.press(painted, 'JOB::pan_right')));
    const half = { y: 0, width: side, height: side };
    expect(difference(crop(before, { x: side, ...half }), crop(moved, { x: 0, ...half }))).toBeLessThan(1);
    const second = await client.press(painted, 'Inpaint');
    const corner = maskOf(side * 2, side * 2, (x, y) => x < 10 && y < 10);
    const again = await client.ended(
      client.submit('modal', { taskId: second.result, prompt: 'A desert', maskBase64: corner }),
    );
    expectOnly(changedPixels(before, await client.image(again)), (x, y) => x < 10 && y < 10);
  });

  test.each<[string, string | undefined, RegExp]>([
    ['none', undefined, /required/],
    ['a string without a data URL', 'iVBORw0KGgo=', /data URL of a PNG/],
    ['a JPEG', dataUrl('image/jpeg', imageFiles.jpeg(128, 128)), /data URL of a PNG/],
    ['text', dataUrl('image/png', Buffer.from('not an image')), /not a readable PNG/],
    ['only the head of a PNG', dataUrl('image/png', png(128, 128).subarray(0, 40)), /selects no pixels/],
    ['a mask with another aspect ratio', maskOf(128, 64, () => true), /aspect ratio/],
    ['a black mask', maskOf(128, 128, () => false), /selects no pixels/],
    ['a huge mask', dataUrl('image/png', png(4100, 4100)), /4096/],
  ])('with %s as its mask is code 4, and keeps waiting', async (_case, maskBase64, words) => {
    const { result } = await client.press(await upscaled(), 'Inpaint');
    const reply = await client.submit('modal', { taskId: result, prompt: 'A robot', maskBase64 });
    expect(reply).toMatchObject({ code: 4, result: '' });
    expect(reply.description).toMatch(words);
    expect(await client.fetchTask(result)).toMatchObject({ status: 'MODAL' });
  });
});

/** Moves the image by one pixel to the left, from even columns only. */
function shift({ width, height, data }: Pixels): Pixels {
  const moved = Uint8Array.from(data);
  for (let at = 0; at < data.length - 4; at += 8) moved.set(data.subarray(at + 4, at + 8), at);
  return { width, height, data: moved };
}

/** Scales an image to the size of another one, with nearest-neighbor sampling. */
function sample(image: Pixels, { width, height }: Pixels): Pixels {
  const data = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const row = Math.floor(((y + 0.5) * image.height) / height);
      const from = (row * image.width + Math.floor(((x + 0.5) * image.width) / width)) * 4;
      data.set(image.data.subarray(from, from + 4), (y * width + x) * 4);
    }
  }
  return { width, height, data };
}
