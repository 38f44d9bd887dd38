/** A picture as a visitor's camera might have taken it, without a file in the repository. */
export async function drawnPicture(subject: 'lake' | 'lamp'): Promise<Blob> {
  const canvas = new OffscreenCanvas(subject === 'lake' ? 960 : 640, 640);
  const brush = canvas.getContext('2d');
  if (!brush) throw new Error('no canvas');
  const { width, height } = canvas;
  const back = brush.createLinearGradient(0, 0, 0, height);
  const colors = subject === 'lake' ? ['#f9d29d', '#e8859a', '#4a5a8f'] : ['#f4efe6', '#d8c7ae'];
  for (const [i, color] of colors.entries()) back.addColorStop(i / (colors.length - 1), color);
  brush.fillStyle = back;
  brush.fillRect(0, 0, width, height);
  if (subject === 'lake') {
    hill(brush, width, 420, 130, '#6b5b85');
    hill(brush, width, 500, 70, '#3b3a5c');
  } else {
    brush.fillStyle = '#39424e';
    brush.fillRect(310, 250, 20, 300);
    brush.fillRect(230, 540, 180, 22);
    brush.fillStyle = '#e0a33a';
    brush.beginPath();
    brush.moveTo(250, 90);
    brush.lineTo(390, 90);
    brush.lineTo(460, 270);
    brush.lineTo(180, 270);
    brush.fill();
  }
  return canvas.convertToBlob({ type: 'image/png' });
}

function hill(
  brush: OffscreenCanvasRenderingContext2D,
  width: number,
  base: number,
  height: number,
  color: string,
): void {
  brush.fillStyle = color;
  brush.beginPath();
  brush.moveTo(0, 640);
  for (let x = 0; x <= width; x += 8)
    brush.lineTo(x, base - Math.sin(x / 110 + base) * height * 0.5 - Math.sin(x / 47) * 14);
  brush.lineTo(width, 640);
  brush.fill();
}
