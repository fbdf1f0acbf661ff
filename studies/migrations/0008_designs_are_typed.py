import studies.models.designs
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('studies', '0007_names_of_studies_end_with_their_line'),
    ]

    operations = [
        # In Python alone: the column and what stands in it stay as they are, and an older version reads them as before.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name='study',
                    name='design',
                    field=studies.models.designs.DesignField(),
                ),
            ],
        ),
    ]
