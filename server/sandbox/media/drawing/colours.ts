/** Red, green and blue from 0 to 255. */
export type Colour = readonly [number, number, number];

/** Hue in turns, saturation and lightness from 0 to 1. */
export function hsl(hue: number, saturation: number, lightness: number): Colour {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number) => {
    const place = (((offset + hue * 12) % 12) + 12) % 12;
    return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(place - 3, 9 - place, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

export function hex([red, green, blue]: Colour): string {
  return `#${((red << 16) | (green << 8) | blue).toString(16).padStart(6, '0')}`;
}

/** Luma and the two chroma values after BT.709 in the range of video, 16 to 235 and 16 to 240. */
export function toYuv(red: number, green: number, blue: number): Colour {
  const y = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return [
    Math.round(16 + (219 * y) / 255),
    Math.round(128 + (224 * (blue - y)) / (1.8556 * 255)),
    Math.round(128 + (224 * (red - y)) / (1.5748 * 255)),
  ];
}

export function toRgb(y: number, u: number, v: number): Colour {
  const luma = ((y - 16) * 255) / 219;
  const blue = luma + ((u - 128) * 1.8556 * 255) / 224;
  const red = luma + ((v - 128) * 1.5748 * 255) / 224;
  return [clamp(red), clamp((luma - 0.2126 * red - 0.0722 * blue) / 0.7152), clamp(blue)];
}

function clamp(value: number): number {
  return Math.max(0, Math.min(255, Math.round(value)));
}
