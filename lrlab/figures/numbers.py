"""Numbers in sentences: three digits, separated thousands, powers of ten for tiny numbers and millions."""

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def rounded(number: float) -> str:
    """Return a number as text for a sentence, with a true minus sign."""
    size = abs(float(f"{number:.3g}"))
    if not 1e-3 <= size < 1e6 and 0.0 < size < float("inf"):
        mantissa, _, exponent = f"{number:.2e}".partition("e")
        text = f"{float(mantissa):g}·10{str(int(exponent)).translate(RAISED)}"
    else:
        text = f"{float(f'{number:.3g}'):,.0f}" if 1000.0 <= size < float("inf") else f"{number:.3g}"
    return text.replace("-", "−")
