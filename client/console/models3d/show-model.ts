import { ModelViewerElement } from '@google/model-viewer';

// Decoders of compressed files would come from another host, which the content security policy forbids.
ModelViewerElement.dracoDecoderLocation = './';
ModelViewerElement.ktx2TranscoderLocation = './';
ModelViewerElement.lottieLoaderLocation = './';

interface ViewerOptions {
  url: string;
  alt: string;
  onLoad: (viewer: ModelViewerElement) => void;
  onError: () => void;
}

/** Shows a GLB file in an element of the page. */
export function showModel(host: Element, { url, alt, onLoad, onError }: ViewerOptions): void {
  const viewer = new ModelViewerElement();
  viewer.alt = alt;
  viewer.cameraControls = true;
  viewer.touchAction = 'pan-y';
  viewer.environmentImage = 'neutral';
  viewer.shadowIntensity = 1;
  viewer.addEventListener('load', () => onLoad(viewer), { once: true });
  viewer.addEventListener('error', onError, { once: true });
  // The content security policy blocks style elements when they are added to the page, but not constructed sheets.
  const sheets = takeStyles(viewer);
  host.replaceChildren(viewer);
  // The viewer sets its own list of sheets when it is added.
  viewer.shadowRoot?.adoptedStyleSheets.push(...sheets);
  viewer.src = url;
}

/** Removes the style elements of a viewer and returns them as constructed sheets. */
function takeStyles({ shadowRoot }: ModelViewerElement): CSSStyleSheet[] {
  return [...(shadowRoot?.querySelectorAll('style') ?? [])].map((element) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(element.textContent);
    element.remove();
    return sheet;
  });
}
