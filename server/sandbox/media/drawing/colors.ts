/** Red, green and blue from 0 to 255. */
export type Color = readonly [number, number, number];

/** Converts HSL to RGB. Hue is in turns, saturation and lightness are from 0 to 1. */
export function hsl(hue: number, saturation: number, lightness: number): Color {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number) => {
    const position = (((offset + hue * 12) % 12) + 12) % 12;
    return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(position - 3, 9 - position, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

export function hex([red, green, blue]: Color): string {
  return `#${((red << 16) | (green << 8) | blue).toString(16).padStart(6, '0')}`;
}

/** Converts RGB to BT.709 luma and chroma in limited range, 16 to 235 and 16 to 240. */
export function toYuv(red: number, green: number, blue: number): Color {
  const y = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return [
    Math.round(16 + (219 * y) / 255),
    Math.round(128 + (224 * (blue - y)) / (1.8556 * 255)),
    Math.round(128 + (224 * (red - y)) / (1.5748 * 255)),
  ];
}

export function toRgb(y: number, u: number, v: number): Color {
  const luma = ((y - 16) * 255) / 219;
  const blue = luma + ((u - 128) * 1.8556 * 255) / 224;
  const red = luma + ((v - 128) * 1.5748 * 255) / 224;
  return [clamp(red), clamp((luma - 0.2126 * red - 0.0722 * blue) / 0.7152), clamp(blue)];
}

function clamp(value: number): number {
  return Math.max(0, Math.min(255, Math.round(value)));
}
