import { type Color, hex } from '../drawing/colors.ts';
import type { SceneRandom } from './scene-random.ts';

/** Subjects of a scene as SVG in a box from -0.5 to 0.5 horizontally and -1 to 0 vertically, with the foot at 0, 0. */

/** `accent` contrasts with the color of the subject. */
export type SubjectColors = Readonly<Record<'subject' | 'accent' | 'dark' | 'pale', Color>>;

interface Paint {
  subject: string;
  accent: string;
  dark: string;
  pale: string;
  random: SceneRandom;
}

const path = (data: string, fill: string, more = '') => `<path d="${data}" fill="${fill}"${more}/>`;
const disc = (x: number, y: number, radius: number, fill: string) =>
  `<circle cx="${x}" cy="${y}" r="${radius}" fill="${fill}"/>`;
const box = (x: number, y: number, width: number, height: number, fill: string) =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${fill}"/>`;

const subjects = {
  boat: ({ subject, accent, dark, pale }) =>
    path('M-.5-.22H.5L.34 0H-.34z', subject) +
    box(-0.02, -1, 0.04, 0.8, dark) +
    path('M.04-.95Q.4-.6 .42-.3H.04z', pale) +
    path('M-.04-.8Q-.3-.55-.34-.3H-.04z', accent),
  house: ({ subject, accent, dark, pale }) =>
    box(0.18, -0.95, 0.1, 0.35, dark) +
    box(-0.38, -0.6, 0.76, 0.6, pale) +
    path('M-.48-.58L0-1L.48-.58z', subject) +
    box(-0.07, -0.32, 0.16, 0.32, dark) +
    box(-0.3, -0.45, 0.15, 0.16, accent) +
    box(0.17, -0.45, 0.15, 0.16, accent),
  castle: ({ subject, accent, dark, pale }) =>
    box(-0.34, -0.55, 0.68, 0.55, subject) +
    [-0.46, -0.11, 0.24]
      .map((x) => box(x, -0.75, 0.22, 0.75, pale) + path(`M${x - 0.03}-.74h.28L${x + 0.11}-1z`, accent))
      .join('') +
    path('M-.1 0V-.22a.1.1 0 0 1 .2 0V0z', dark),
  lighthouse: ({ subject, accent, dark, pale }) =>
    path('M-.2 0L-.12-.75H.12L.2 0z', pale) +
    path('M-.185-.15L-.165-.33H.165L.185-.15z', subject) +
    path('M-.145-.5L-.128-.66H.128L.145-.5z', subject) +
    box(-0.1, -0.88, 0.2, 0.13, accent) +
    path('M-.15-.87L0-1L.15-.87z', dark),
  tree: ({ subject, accent, dark, random }) => {
    const crown = Array.from({ length: 6 }, (_, index) => {
      const angle = (index / 6) * 2 * Math.PI;
      const reach = random.between(`crown ${index}`, 0.14, 0.22);
      return disc(
        Math.cos(angle) * 0.22,
        -0.66 + Math.sin(angle) * 0.17,
        reach,
        index % 2 ? subject : accent,
      );
    });
    return path('M-.07 0L-.04-.5H.04L.07 0z', dark) + crown.join('') + disc(0, -0.66, 0.2, subject);
  },
  mountain: ({ subject, dark, pale }) =>
    path('M-.5 0L-.05-1L.5 0z', subject) +
    path('M-.05-1L.5 0H.1z', dark, ' fill-opacity=".4"') +
    path('M-.21-.65L-.05-1L.14-.65L.06-.58L-.03-.68L-.12-.57z', pale),
  cat: ({ subject, accent, dark, pale }) =>
    `<path d="M.28-.1Q.55-.2 .42-.5" fill="none" stroke="${subject}" stroke-width=".07"/>` +
    path('M-.3 0Q-.34-.5 0-.52Q.34-.5 .3 0z', subject) +
    path('M-.26-.68L-.24-.98L-.08-.84zM.26-.68L.24-.98L.08-.84z', subject) +
    disc(0, -0.68, 0.26, subject) +
    disc(-0.1, -0.72, 0.05, pale) +
    disc(0.1, -0.72, 0.05, pale) +
    disc(-0.1, -0.72, 0.025, dark) +
    disc(0.1, -0.72, 0.025, dark) +
    path('M-.04-.62H.04L0-.57z', accent),
  bird: ({ subject, accent, dark, pale }) =>
    path('M.2-.35L.5-.55L.42-.25z', subject) +
    `<ellipse cx="0" cy="-.4" rx=".3" ry=".22" fill="${subject}"/>` +
    disc(-0.24, -0.68, 0.16, subject) +
    path('M-.38-.72L-.5-.66L-.38-.62z', accent) +
    disc(-0.27, -0.71, 0.03, dark) +
    path('M-.12-.46Q.1-.6 .26-.4Q.06-.24-.12-.46z', pale) +
    path('M-.06-.2h.03V0h-.03zM.06-.2h.03V0h-.03z', dark),
  fish: ({ subject, accent, dark, pale }) =>
    path('M.22-.5L.5-.72V-.28z', accent) +
    `<ellipse cx="-.08" cy="-.5" rx=".38" ry=".24" fill="${subject}"/>` +
    path('M-.1-.74Q.06-.95 .14-.68z', accent) +
    disc(-0.28, -0.55, 0.055, pale) +
    disc(-0.29, -0.55, 0.03, dark),
  person: ({ subject, accent, dark, pale }) =>
    path('M-.16 0L-.12-.38H.12L.16 0H.04L0-.25L-.04 0z', dark) +
    path('M-.2-.34L-.16-.7Q0-.78 .16-.7L.2-.34z', subject) +
    path('M-.16-.68L-.3-.4L-.22-.36L-.1-.56zM.16-.68L.3-.4L.22-.36L.1-.56z', accent) +
    disc(0, -0.85, 0.13, pale) +
    path('M-.14-.86Q-.1-1.02 0-1Q.1-1.02 .14-.86Q0-.94-.14-.86z', dark),
  flower: ({ subject, accent, dark, random }) => {
    const count = 6 + Math.floor(random.between('petals', 0, 5));
    const petals = Array.from({ length: count }, (_, index) => {
      const turn = (360 * index) / count;
      return `<ellipse cx="0" cy="-.2" rx=".09" ry=".16" fill="${subject}" transform="translate(0 -.64) rotate(${turn})"/>`;
    });
    return (
      box(-0.02, -0.6, 0.04, 0.6, dark) +
      path('M0-.1Q.3-.2 .32-.4Q.06-.36 0-.1z', accent) +
      petals.join('') +
      disc(0, -0.64, 0.1, accent)
    );
  },
  car: ({ subject, accent, dark, pale }) =>
    path('M-.28-.4Q-.22-.62-.08-.62H.12Q.26-.62 .32-.4z', pale) +
    path('M-.5-.12V-.34Q-.46-.42-.3-.42H.36Q.5-.4 .5-.12z', subject) +
    box(0.42, -0.32, 0.08, 0.08, accent) +
    [-0.26, 0.27].map((x) => disc(x, -0.12, 0.12, dark) + disc(x, -0.12, 0.05, pale)).join(''),
  robot: ({ subject, accent, dark, pale }) =>
    box(-0.02, -1, 0.04, 0.12, dark) +
    disc(0, -0.97, 0.04, accent) +
    box(-0.18, -0.9, 0.36, 0.26, pale) +
    disc(-0.08, -0.78, 0.05, accent) +
    disc(0.08, -0.78, 0.05, accent) +
    box(-0.24, -0.62, 0.48, 0.36, subject) +
    box(-0.36, -0.6, 0.1, 0.32, dark) +
    box(0.26, -0.6, 0.1, 0.32, dark) +
    box(-0.18, -0.26, 0.12, 0.26, dark) +
    box(0.06, -0.26, 0.12, 0.26, dark),
  balloon: ({ subject, accent, dark, pale }) =>
    path('M-.16-.5L-.06-.14M.16-.5L.06-.14', 'none', ` stroke="${dark}" stroke-width=".015"`) +
    path('M0-1C-.36-1-.36-.68-.16-.48H.16C.36-.68 .36-1 0-1z', subject) +
    path('M0-1C-.14-1-.14-.68-.06-.48H.06C.14-.68 .14-1 0-1z', accent) +
    box(-0.08, -0.15, 0.16, 0.12, pale),
  /** A star with a random number of points, for prompts without a known word. */
  emblem: ({ subject, accent, pale, random }) => {
    const points = 5 + Math.floor(random.between('points', 0, 7));
    const inner = random.between('inner', 0.15, 0.35);
    const corners = Array.from({ length: points * 2 }, (_, index) => {
      const [angle, reach] = [(index / points) * Math.PI, index % 2 ? inner : 0.48];
      return `${(Math.sin(angle) * reach).toFixed(3)} ${(-0.5 - Math.cos(angle) * reach).toFixed(3)}`;
    });
    return (
      path(`M${corners.join('L')}z`, subject) +
      disc(0, -0.5, inner * 0.8, accent) +
      disc(0, -0.5, inner * 0.4, pale)
    );
  },
} satisfies Record<string, (paint: Paint) => string>;

export type SubjectName = keyof typeof subjects;

/** Draws a subject with its foot at `x`, `y`. */
export function drawSubject(
  name: SubjectName,
  { x, y, size }: { x: number; y: number; size: number },
  { palette, random }: { palette: SubjectColors; random: SceneRandom },
): string {
  const paint: Paint = {
    subject: hex(palette.subject),
    accent: hex(palette.accent),
    dark: hex(palette.dark),
    pale: hex(palette.pale),
    random,
  };
  return `<g transform="translate(${x} ${y}) scale(${size})">${subjects[name](paint)}</g>`;
}
